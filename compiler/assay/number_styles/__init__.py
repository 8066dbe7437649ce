"""Number styles: values, deltas, manifest cells and chart points as text."""
