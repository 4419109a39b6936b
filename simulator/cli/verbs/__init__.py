"""What the command line takes, one verb a module. A verb imports its work when it is called, so --help is quick."""
