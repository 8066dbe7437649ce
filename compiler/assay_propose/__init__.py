"""Propose a workspace for sample files: what the logs contain, and the specs that read them."""
