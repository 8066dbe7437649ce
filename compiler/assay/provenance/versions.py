"""Determine the versions of Assay and of the tools that affect its output."""

from __future__ import annotations

import functools
from importlib import metadata

from assay.report.output_forms import TOOLS as FORM_TOOLS
from assay.report.output_forms import VEGA_LITE

TOOLS = ("duckdb", "sqlglot", "typst", "vl-convert-python")


def get_versions() -> dict[str, str]:
    """Return the versions of Assay and of the tools that affect its output.

    Python's version is left out: no output may depend on it.
    """
    return {**{name: _get_version(name) for name in ("assay", *TOOLS)}, "vega-lite": VEGA_LITE}


def get_form_tools(form: str) -> dict[str, str]:
    """Return the versions of the tools that only one output form needs."""
    return {name: _get_version(name) for name in FORM_TOOLS[form]}


@functools.cache
def _get_version(name: str) -> str:
    """Return the version of an installed package."""
    return metadata.version(name)
