"""What is compared and shown: the results of runs, as the engine yields them (the contract between the two)."""

from assay.engine.results import Centile, Distribution, FilterCount, FormulaResult, RunResults

__all__ = ["Centile", "Distribution", "FilterCount", "FormulaResult", "RunResults"]
