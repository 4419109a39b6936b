"""The SDK client: editor extension from 4.0, command line 3.x."""
