"""Errors at the edge: rendered once, as text or JSON, with the exit status that belongs to them."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

import click

from assay.cli import output
from assay.util import watchdog

INTERNAL = 70
INTERRUPTED = 130


def run(command: click.Group, arguments: Sequence[str] | None) -> int:
    """Run a command; the exit status: 0 done, 1 specs or data are wrong, 2 usage, 3 a difference, 70 a bug of ours."""
    as_json = _wants_json(list(arguments) if arguments is not None else sys.argv[1:])
    watchdog.report_by(lambda error: _failed(error, as_json))
    try:
        given = list(arguments) if arguments is not None else sys.argv[1:]
        _check(given)
        status = command.main(args=given, prog_name="assay", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except click.exceptions.Abort:
        output.line("interrupted", err=True)
        return INTERRUPTED
    except click.ClickException as error:
        if as_json:
            return _failed(_as_data(error), as_json)
        said = io.StringIO()
        error.show(said)
        output.text(said.getvalue().removesuffix("\n"), err=True)
        return error.exit_code
    except SystemExit:  # so the library ends when nobody reads its help
        return 0
    except Exception as error:
        if _is_interrupt(error):
            output.line("interrupted", err=True)
            return INTERRUPTED
        return _failed(error, as_json)


def _is_interrupt(error: Exception) -> bool:
    """Whether the engine was interrupted, which makes an error of its own of it."""
    return type(error) is RuntimeError and str(error) == "Query interrupted"


def _as_data(error: click.ClickException) -> Exception:
    """What is wrong with a command line, as errors of other kinds are told."""
    from assay.util.diagnostics import fail

    context = getattr(error, "ctx", None)
    hint = f"{context.command_path} --help tells its arguments and options" if context else ""
    return fail("usage", error.format_message(), hint=hint, status=error.exit_code)


def _check(arguments: Sequence[str]) -> None:
    """Refuse arguments that are no text."""
    if not " ".join(arguments).isascii():
        from assay.util.diagnostics import USAGE
        from assay.util.os_errors import require_utf8

        for argument in arguments:
            require_utf8(argument, "an argument", USAGE)


def _wants_json(arguments: Sequence[str]) -> bool:
    joined = " ".join(arguments)
    return "--errors json" in joined or "--errors=json" in joined


def _failed(error: Exception, as_json: bool) -> int:
    from assay.util.diagnostics import AssayError, Diagnostic

    if not os.environ.get("ASSAY_DEBUG"):
        from assay.util.os_errors import convert_os_error, is_memory, out_of_memory

        if isinstance(error, OSError):
            error = convert_os_error(error)
        elif is_memory(error):
            error = out_of_memory(error)
    if isinstance(error, AssayError):
        _show(error, as_json)
        return error.status
    if os.environ.get("ASSAY_DEBUG"):
        raise error
    cause = f"{type(error).__name__}: {error}"
    item = Diagnostic("bug", f"this is a bug of Assay: {cause}", hint="ASSAY_DEBUG=1 shows where; please report it")
    _show(AssayError((item,), INTERNAL), as_json)
    return INTERNAL


def _show(error: Exception, as_json: bool) -> None:
    from assay.util.diagnostics import AssayError

    assert isinstance(error, AssayError)
    if as_json:
        output.data([item.to_json() for item in error.diagnostics], err=True)
    else:
        output.text(str(error), err=True)
