"""Render errors once, as text or JSON, and return the exit status."""

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
    """Run a command and return its exit status.

    0: success, 1: invalid specs or data, 2: invalid usage, 3: a difference, 4: a closed gate, 70: a bug of Assay,
    130: interrupted.
    """
    words = list(arguments) if arguments is not None else sys.argv[1:]
    as_json = _has_json_errors(words)
    watchdog.set_reporter(lambda error: _report_failure(error, as_json))
    try:
        _check_encoding(words)
        status = command.main(args=words, prog_name="assay", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except click.exceptions.Abort:
        output.print_line("interrupted", err=True)
        return INTERRUPTED
    except click.ClickException as error:
        if as_json:
            return _report_failure(_convert_click_error(error), as_json)
        message = io.StringIO()
        error.show(message)
        output.print_problems(message.getvalue().removesuffix("\n"))
        return error.exit_code
    except SystemExit:  # click exits this way if the pipe of its help is closed
        return 0
    except Exception as error:
        if _is_interrupt(error):
            output.print_line("interrupted", err=True)
            return INTERRUPTED
        return _report_failure(error, as_json)


def _is_interrupt(error: Exception) -> bool:
    """Return whether the engine was interrupted, which it reports as an error of its own."""
    return type(error) is RuntimeError and str(error) == "Query interrupted"


def _convert_click_error(error: click.ClickException) -> Exception:
    """Return a problem of the command line as an AssayError."""
    from assay.util.diagnostics import fail

    context = getattr(error, "ctx", None)
    hint = f"run `{context.command_path} --help`" if context else ""
    return fail("usage", error.format_message(), hint=hint, status=error.exit_code)


def _check_encoding(arguments: Sequence[str]) -> None:
    """Refuse arguments that are not valid text."""
    if not " ".join(arguments).isascii():
        from assay.util.diagnostics import USAGE
        from assay.util.os_errors import require_utf8

        for argument in arguments:
            require_utf8(argument, "an argument", USAGE)


def _has_json_errors(arguments: Sequence[str]) -> bool:
    joined = " ".join(arguments)
    return "--errors json" in joined or "--errors=json" in joined


def _report_failure(error: Exception, as_json: bool) -> int:
    from assay.util.diagnostics import AssayError, Diagnostic

    if not os.environ.get("ASSAY_DEBUG"):
        from assay.util.os_errors import build_memory_error, convert_os_error, is_memory_error

        if isinstance(error, OSError):
            error = convert_os_error(error)
        elif is_memory_error(error):
            error = build_memory_error(error)
    if isinstance(error, AssayError):
        _show(error, as_json)
        return error.status
    if os.environ.get("ASSAY_DEBUG"):
        raise error
    cause = f"{type(error).__name__}: {error}"
    item = Diagnostic(
        "bug", f"internal error: {cause}", hint="report this bug of Assay; ASSAY_DEBUG=1 shows the traceback"
    )
    _show(AssayError((item,), INTERNAL), as_json)
    return INTERNAL


def _show(error: Exception, as_json: bool) -> None:
    from assay.util.diagnostics import AssayError

    assert isinstance(error, AssayError)
    if as_json:
        output.print_data([item.to_json() for item in error.diagnostics], err=True)
    else:
        output.print_problems(str(error))
