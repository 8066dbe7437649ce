"""What the tests of the whole share: cases, workspaces, runs, the command line, our results in the oracle's terms."""
