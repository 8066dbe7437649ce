"""Fuzzing: mutate user input at random; each case must end in a result or an error, never in a traceback."""
