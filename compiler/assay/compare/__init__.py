"""Numbers of several runs side by side, as text: number styles, deltas, manifest cells, chart points."""
