"""Charts: Vega-Lite specifications, axes, rendering.

A new kind of figure is a block (`assay.report.blocks`), with a template for its chart in `templates/charts/`.
"""
