"""`assay`, and `python -m assay`: the command line."""

from __future__ import annotations

import _thread
import atexit
import gc
import os
import signal
import sys
import threading
import time

from assay.bare_engine import load_bare

INTERRUPTED = 130
MOMENT = 0.01  # seconds
SWITCH = 0.0005  # seconds


def main() -> None:
    """Run the command line.  Who interrupts it while it is loaded, or ends, is told as others are."""
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # and not ignored, as behind `nohup`
    if ours:
        signal.signal(signal.SIGINT, _at_once)  # nothing is begun: no block is to be left in order
    # What a command makes lives as long as the command: to look for garbage as often as usual costs, and finds little.
    gc.set_threshold(500_000, 50, 50)
    # The engine loads it, where it is, to find out that no value given to it is one of its; so it does without.
    sys.modules.setdefault("numpy", None)  # type: ignore[arg-type]
    load_bare()
    # Much is done beside Python, which goes on when Python lets it; so it is asked to more often than usual.
    sys.setswitchinterval(SWITCH)
    try:
        _run(ours)
    except SystemExit as ended:
        _end(ended.code)
        raise


def _run(ours: bool) -> None:
    from assay.cli.main import main as command

    sys.unraisablehook = _passed_over
    try:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command()
    except KeyboardInterrupt:
        os.write(2, b"interrupted\n")
        sys.exit(INTERRUPTED)
    finally:
        if ours:
            signal.signal(signal.SIGINT, _at_once)


def _end(status: object) -> None:
    """End with a status at once: to take all apart that a command has made takes long, and puts nothing in order.

    Returns where others are still at work, or what was said cannot be written; then ending as usual tells of it.
    """
    others = [item for item in threading.enumerate() if item is not threading.main_thread()]
    if not isinstance(status, int) or not all(item.daemon for item in others):
        return
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    os._exit(status)


def _at_once(_signal: int, _frame: object) -> None:
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(INTERRUPTED)


def _passed_over(error: sys.UnraisableHookArgs) -> None:
    """Let an interrupt that came where Python passes over errors, as between two imports, come again."""
    if issubclass(error.exc_type, KeyboardInterrupt):
        _thread.start_new_thread(_again, ())
    else:
        sys.__unraisablehook__(error)


def _again() -> None:
    time.sleep(MOMENT)
    os.kill(os.getpid(), signal.SIGINT)  # which ends what the system is asked for, too


if __name__ == "__main__":
    main()
