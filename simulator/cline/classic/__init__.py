"""The classic client: editor extension up to 3.89, command line 1.x and 2.x."""
