"""A simulated cluster.

What it is like is in `shape`, who forges when and how blocks travel in `chain`, what each host logs in `host`
(with `lines` for the texts and `resources` for the counters), the files of a run in `layout`.
"""
