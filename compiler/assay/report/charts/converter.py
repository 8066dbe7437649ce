"""Run the chart converter in processes of its own, and hash the fonts of reports.

A converter process ends with this one, however this one ends, since its input is closed then.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from queue import LifoQueue
from typing import Any

from assay.report.charts import vega_process
from assay.report.output_forms import VEGA_LITE
from assay.util import checksums
from assay.util.diagnostics import INTERNAL, AssayError, fail
from assay.util.paths import resolve_path


def hash_fonts(folder: Path) -> str:
    """Return a hash of the names and contents of all files of a fonts folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    listing = "".join(f"{path.relative_to(folder).as_posix()}\0{checksums.hash_file(path)}\0" for path in files)
    return hashlib.sha256(listing.encode()).hexdigest()


def _build_warmup_chart() -> str:
    """Return a chart with everything that charts of reports use: steps of two runs with bands, own scales, texts."""
    quantitative = {"type": "quantitative", "scale": {"domain": [0, 1], "nice": False}}
    points = [{"run": run, "x": x / 29, "x2": 1, "y": x / 29} for run in ("a", "b") for x in range(30)]
    return json.dumps({
        "data": {"values": points},
        "encoding": {
            "x": {"field": "x", **quantitative, "axis": {"title": ["x"], "values": [0, 1], "format": ".2~f",
                                                         "labelExpr": "replace(datum.label, regexp('^0$'), '')"}},
            "y": {"field": "y", **quantitative, "axis": {"title": "y", "values": [0, 1], "grid": True}},
            "color": {"field": "run", "type": "nominal", "legend": None, "scale": {"range": ["#111111", "#eeeeee"]}},
            "strokeDash": {"field": "run", "type": "nominal", "legend": None, "scale": {"range": [[1, 0], [5, 2]]}},
        },
        "layer": [
            {"mark": {"type": "area", "orient": "horizontal", "interpolate": "step-before", "clip": True},
             "encoding": {"x2": {"field": "x2"}}},
            {"mark": {"type": "line", "interpolate": "step-after", "clip": True}},
            {"mark": {"type": "point", "shape": "triangle-right", "filled": True}},
            {"mark": {"type": "rule"}},
            {"mark": {"type": "text"}, "encoding": {"text": {"field": "run", "type": "nominal"}}},
        ],
    })  # fmt: skip


#: half of the cores: each process takes a third of a second to start, while other work runs
PROCESSES = max(1, min(4, (os.cpu_count() or 1) // 2))
#: a chart that is only drawn to load and compile everything: the first chart of a process takes ten times as long
WARMUP_CHART = _build_warmup_chart()

_LOCK = threading.Lock()
_QUEUES: dict[Path, tuple[str, LifoQueue[Converter | None]]] = {}


class Converter:
    """A running converter process that draws with the fonts of one folder."""

    def __init__(self, fonts: Path) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed with the process
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(vega_process.__file__), str(fonts), VEGA_LITE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="utf-8",
        )
        self._is_busy = True  # until its next answer is read
        atexit.register(self.close)
        # It sends no answer: two processes that both write more than a pipe holds would block each other.
        self._send({"typical": WARMUP_CHART})

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def convert(self, spec: str, name: str) -> str:
        """Return a Vega-Lite specification (JSON text) as SVG text.

        Raises `chart-refused` with the converter's message.
        """
        self._is_busy = True
        self._send({"spec": spec})
        answer = self._read_answer()
        self._is_busy = False
        if "error" in answer:
            raise fail(
                "chart-refused",
                f"the chart converter refuses {name}",
                expected=f"a chart of Vega-Lite {VEGA_LITE}",
                found=_find_cause(answer["error"]),
            )
        return str(answer["svg"])

    @property
    def is_running(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process, even while it draws something that is no longer needed."""
        if self._is_busy:
            self._process.kill()
        with contextlib.suppress(OSError, ValueError):
            self._process.communicate()
        self._errors.close()
        atexit.unregister(self.close)

    def _send(self, request: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._build_error() from None

    def _read_answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._build_error()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _build_error(self) -> AssayError:
        status = self._process.wait()
        self._errors.seek(0)
        message = self._errors.read().decode(errors="replace").strip().split("\n")[-1]
        return fail(
            "chart-converter",
            f"the chart converter ended with status {status}",
            found=message or "no message",
            status=INTERNAL,
        )


def _find_cause(text: str) -> str:
    """Return the line of a message with the cause: the last one before the stack trace."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = list(itertools.takewhile(lambda line: not line.startswith("at "), lines))
    return causes[-1] if causes else "no message"


def convert_spec(spec: str, fonts: Path, state: str, name: str) -> str:
    """Return a Vega-Lite specification (JSON text) as SVG text, drawn by any idle converter; messages use `name`.

    `state` is the current hash of the fonts in the folder.
    """
    idle = _get_idle_converters(resolve_path(fonts), state)
    converter = idle.get()
    try:
        converter = converter if converter and converter.is_running else Converter(resolve_path(fonts))
        return converter.convert(spec, name)
    finally:
        idle.put(converter)


def start_converters(fonts: Path) -> None:
    """Start all converters of a fonts folder without waiting for them."""
    idle = _get_idle_converters(resolve_path(fonts), hash_fonts(fonts))
    converters = [idle.get() for _ in range(PROCESSES)]
    for item in converters:
        idle.put(item or Converter(resolve_path(fonts)))


def _get_idle_converters(fonts: Path, state: str) -> LifoQueue[Converter | None]:
    """Return the queue of idle converters of a fonts folder; None marks one that is not started."""
    with _LOCK:
        former, queue = _QUEUES.get(fonts, ("", LifoQueue[Converter | None]()))
        if former == state:
            return queue
        while not queue.empty():  # a converter keeps the fonts of its start
            if (outdated := queue.get()) is not None:
                outdated.close()
        queue = LifoQueue()
        for _ in range(PROCESSES):
            queue.put(None)
        _QUEUES[fonts] = (state, queue)
        return queue
