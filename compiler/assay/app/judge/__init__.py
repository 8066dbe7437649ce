"""Judge changes between runs: intervals, repeats, and the judgements as data."""
