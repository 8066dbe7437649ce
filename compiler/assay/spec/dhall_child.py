"""The program that evaluates one Dhall file in a process of its own; run by `dhall_run`, never imported.

Its argument is the folder of the evaluator's package.  Its input is a JSON object: the `folder` in which it evaluates
the `expression`; `inner`, a list of texts that must be expressions; `limits`: the memory in bytes, the processor
seconds, how many bytes it may write into a file (0, but where normal forms are kept); and `forms`, the folder of these
or nothing.  Without input it ends.  It prints one JSON object: {"value": ...}, {"error": class, "text": ...}, or
{"broken": the number of the first text that is no expression}.
"""

import _thread
import contextlib
import json
import os
import resource
import signal
import sys
import time

STACK = 512 << 20  # the parser is recursive: long multi-line texts need far more than the usual 8 MB


def confine(memory: int, seconds: int, writes: int) -> None:
    """Bound memory, processor time and what is written into a file; write no core dump."""
    limits = {
        resource.RLIMIT_AS: (memory, memory),
        resource.RLIMIT_CPU: (seconds, seconds + 1),
        resource.RLIMIT_FSIZE: (writes, writes),
        resource.RLIMIT_CORE: (0, 0),
    }
    for name, limit in limits.items():
        with contextlib.suppress(ValueError, OSError):  # a system that has the limit but does not let it be set
            resource.setrlimit(name, limit)


def end_with_parent() -> None:
    """Have this process killed when the one that started it is gone: its evaluation listens to nobody."""
    parent, own = os.getppid(), os.getpid()
    if os.fork():
        return
    for stream in range(3):
        os.close(stream)
    while os.getppid() == own:
        try:
            os.kill(parent, 0)
        except OSError:
            os.kill(own, signal.SIGKILL)
        time.sleep(0.1)
    os._exit(0)


def is_expression(text: str) -> bool:
    """Whether a text is one whole expression; it is parsed only.

    It gets a last line that is no Dhall: a parser that reaches that line and would take the end of the file
    there has found nothing to complain about before.
    """
    import dhall

    try:
        dhall.loads(f"{text}\n§")
    except TypeError as error:
        end = len(text.encode()) + 1
        return "EOI" in str(error) and f"location: Pos({end})" in str(error)
    return False


def evaluate(expression: str, inner: list[str]) -> dict[str, object]:
    """The value of the expression or the error, as data."""
    try:
        import dhall

        for number, text in enumerate(inner):
            if not is_expression(text):
                return {"broken": number}
        return {"value": dhall.loads(expression)}
    except BaseException as error:  # a panic of the evaluator is one
        return {"error": type(error).__name__, "text": str(error)}


def answer(expression: str, inner: list[str]) -> str:
    """The result as JSON with sorted keys, so that it is the same in every process."""
    sys.setrecursionlimit(20_000)
    try:
        return json.dumps(evaluate(expression, inner), sort_keys=True)
    except (RecursionError, TypeError, ValueError) as error:
        return json.dumps({"error": type(error).__name__, "text": str(error)})


def main() -> None:
    """Evaluate in a thread with a large stack and print the result."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the evaluator would hear of an interrupt when it is done
    sys.path.append(sys.argv[1])
    with contextlib.suppress(BaseException):  # said when it is asked for something
        import dhall  # noqa: F401  loaded while whoever starts this finds out what to ask
    text = sys.stdin.read()
    if not text:
        return
    end_with_parent()
    given = json.loads(text)
    os.chdir(given["folder"])
    if given["forms"]:
        os.environ["XDG_CACHE_HOME"] = given["forms"]
    confine(*given["limits"])
    _thread.stack_size(STACK)
    done = _thread.allocate_lock()
    done.acquire()

    def work() -> None:
        try:
            sys.stdout.write(answer(given["expression"], given["inner"]))
            sys.stdout.flush()
        finally:
            done.release()

    _thread.start_new_thread(work, ())
    done.acquire()


main()
