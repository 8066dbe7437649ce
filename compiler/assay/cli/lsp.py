"""Define `assay lsp`."""

from __future__ import annotations

import click

from assay.util.diagnostics import USAGE, fail


@click.command()
def lsp() -> int:
    """Start the language server for specs, over stdin and stdout.

    Provides diagnostics, hover, go to definition, completion and renaming. See docs/how-to.md for editor settings.
    """
    try:
        import pygls  # noqa: F401
    except ImportError:
        raise fail("no-package", "the language server requires the package `pygls`",
                   hint="run pip install 'assay[lsp]'", status=USAGE) from None  # fmt: skip
    from assay.lsp.server import serve

    return serve()
