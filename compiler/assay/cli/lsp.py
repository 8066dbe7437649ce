"""`assay lsp`: the language server that editors start."""

from __future__ import annotations

import click


@click.command()
def lsp() -> int:
    """Start a language server for specs, over stdin and stdout.

    It offers diagnostics while you type, types and comments, definitions, completion after a dot, and renaming. Your
    editor starts it: docs/how-to.md has the settings.
    """
    try:
        import pygls  # noqa: F401
    except ImportError:
        from assay.util.diagnostics import USAGE, fail

        raise fail("no-package", "the language server takes the package pygls", hint="pip install 'assay[lsp]'",
                   status=USAGE) from None  # fmt: skip
    from assay.lsp.server import serve

    return serve()
