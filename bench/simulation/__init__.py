"""Simulate a cluster and write its logs.

`shape` has its size and rates, `chain` the forging and propagation of blocks, `host` the log of each host (`lines`
the line formats, `resources` the counters), and `layout` the files of a run.
"""
