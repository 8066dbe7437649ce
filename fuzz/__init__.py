"""Fuzzing: what users give is broken at random; the answer is to be a result or an error, never a traceback."""
