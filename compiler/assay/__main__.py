"""`assay`, and `python -m assay`: the command line."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time

INTERRUPTED = 130
MOMENT = 0.01  # seconds


def main() -> None:
    """Run the command line.  Who interrupts it while it is loaded, or ends, is told as others are."""
    handles_interrupts = (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )  # and not ignored, as behind `nohup`
    if handles_interrupts:
        signal.signal(signal.SIGINT, _exit_at_once)  # nothing is begun: no block is to be left in order
    _run(handles_interrupts)


def _run(handles_interrupts: bool) -> None:
    from assay.cli.main import main as command

    sys.unraisablehook = _resend_interrupt
    try:
        if handles_interrupts:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command()
    except KeyboardInterrupt:
        os.write(2, b"interrupted\n")
        sys.exit(INTERRUPTED)
    finally:
        if handles_interrupts:
            signal.signal(signal.SIGINT, _exit_at_once)


def _exit_at_once(_signal: int, _frame: object) -> None:
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(INTERRUPTED)


def _resend_interrupt(error: sys.UnraisableHookArgs) -> None:
    """Let an interrupt that came where Python passes over errors, as between two imports, come again."""
    if issubclass(error.exc_type, KeyboardInterrupt):
        _thread.start_new_thread(_interrupt_again, ())
    else:
        sys.__unraisablehook__(error)


def _interrupt_again() -> None:
    time.sleep(MOMENT)
    os.kill(os.getpid(), signal.SIGINT)  # which ends what the system is asked for, too


if __name__ == "__main__":
    main()
