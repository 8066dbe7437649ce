"""The streams that a command is given: what becomes of one that is closed, that nobody reads, or that is full."""

from __future__ import annotations

import os
import sys
from typing import TextIO

import click


def opened() -> None:
    """Lead to nowhere what is closed of stdin, stdout and stderr.

    Else the next file that is opened has its number, and what libraries write there goes into that file.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            lowest = os.open(os.devnull, os.O_RDWR)  # of the numbers that are free: this one
            os.set_inheritable(lowest, True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def write(said: str, err: bool, line_end: bool = True) -> None:
    """Write to stdout or stderr.  What nobody reads any more is passed over: the status stays that of the work.

    AssayError (output) when stdout cannot be written for another reason; of stderr nobody could be told.
    """
    try:
        click.echo(said, nl=line_end, err=err)
    except OSError as error:
        _let_go(sys.stderr if err else sys.stdout)
        if not err and not isinstance(error, BrokenPipeError):
            from assay.util.diagnostics import fail

            raise fail("output", f"stdout cannot be written: {os.strerror(error.errno or 0)}") from None


def _let_go(stream: TextIO) -> None:
    """Lead a stream to nowhere, with what it still holds."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
