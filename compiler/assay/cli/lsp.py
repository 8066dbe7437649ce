"""`assay lsp`: the language server that editors start."""

from __future__ import annotations

import click


@click.command()
def lsp() -> int:
    """Serve editors of specs by the language server protocol, over stdin and stdout.

    It gives problems while typing, types and comments, definitions, completion after a dot, and renaming. An editor
    starts it: docs/how-to.md has the settings.
    """
    try:
        import pygls  # noqa: F401
    except ImportError:
        from assay.util.diagnostics import USAGE, fail

        raise fail("no-package", "the language server takes the package pygls", hint="pip install 'assay[lsp]'",
                   status=USAGE) from None  # fmt: skip
    from assay.lsp.server import serve

    return serve()
