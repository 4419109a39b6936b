"""A client whose model is not recorded: what comes as a reply is read, and decides what happens next."""
