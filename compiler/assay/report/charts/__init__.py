"""Charts: Vega-Lite specifications, axes, rendering."""
