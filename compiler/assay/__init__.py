"""Assay compiles declarative metric definitions into benchmark reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.api import Workspace
    from assay.api import open_workspace as open  # noqa: A004
    from assay.util.diagnostics import AssayError

__all__ = ["AssayError", "Workspace", "open"]


def __getattr__(name: str) -> Any:
    """Import the Python interface on first use, so that the command line starts without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from assay import api
    from assay.util.diagnostics import AssayError

    return {"AssayError": AssayError, "Workspace": api.Workspace, "open": api.open_workspace}[name]
