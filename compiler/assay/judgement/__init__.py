"""Intervals, verdicts and gates: what a difference of two runs says beyond chance (docs/judgement-method.md)."""
