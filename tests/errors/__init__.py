"""Slips of users and the messages that answer them: a file a case in `cases/`."""
