"""The command line: arguments in, printing out."""
