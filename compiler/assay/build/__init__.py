"""The stages put together: what each command does, as functions over a session.  The command line only prints."""
