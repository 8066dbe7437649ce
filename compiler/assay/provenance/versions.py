"""The versions of what shapes an output: of Assay, and of the tools that it works with."""

from __future__ import annotations

import functools
from importlib import metadata

from assay.report.output_forms import TOOLS as FORM_TOOLS
from assay.report.output_forms import VEGA_LITE

TOOLS = ("duckdb", "sqlglot", "typst", "vl-convert-python")


def versions() -> dict[str, str]:
    """Versions of Assay and of the tools that shape its output.

    Python's is not among them: no output may depend on it.
    """
    return {**{name: _version(name) for name in ("assay", *TOOLS)}, "vega-lite": VEGA_LITE}


def form_tools(form: str) -> dict[str, str]:
    """The versions of the tools that only one form of a report needs."""
    return {name: _version(name) for name in FORM_TOOLS[form]}


@functools.cache
def _version(name: str) -> str:
    """The version of a package that is installed."""
    return metadata.version(name)
