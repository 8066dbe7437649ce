"""`assay`, and `python -m assay`: the command line."""

from __future__ import annotations

import _thread
import gc
import os
import signal
import sys
import time

INTERRUPTED = 130
RESEND_DELAY = 0.01  # seconds
GARBAGE = 100_000  # objects after which unreachable cycles are looked for; by default 700, a tenth of `assay check`


def main() -> None:
    """Run the command line. An interrupt while modules are loaded, or at exit, also prints `interrupted`."""
    handles_interrupts = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not ignored, as with `nohup`
    if handles_interrupts:
        signal.signal(signal.SIGINT, _exit_at_once)  # no work has started, so there is nothing to clean up
    _run(handles_interrupts)


def _run(handles_interrupts: bool) -> None:
    gc.set_threshold(GARBAGE)
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
    """Send an interrupt again if Python ignored it, as it does in destructors and import callbacks."""
    if issubclass(error.exc_type, KeyboardInterrupt):
        _thread.start_new_thread(_interrupt_again, ())
    else:
        sys.__unraisablehook__(error)


def _interrupt_again() -> None:
    time.sleep(RESEND_DELAY)
    os.kill(os.getpid(), signal.SIGINT)  # a signal also ends blocking system calls


if __name__ == "__main__":
    main()
