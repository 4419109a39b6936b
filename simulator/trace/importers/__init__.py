"""One module a format: each gives the sessions of a file as drafts, and says what of it cannot be read."""
