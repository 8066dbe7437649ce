"""The commands: each puts the stages together over a session. The command line only prints."""
