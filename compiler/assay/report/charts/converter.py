"""The chart converter, which runs in processes of its own, and the fonts of reports.

Such a process ends when this one does, in whatever way: its input ends then.
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


def fonts_hash(folder: Path) -> str:
    """A hash of the names and contents of all files of a folder of fonts."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    told = "".join(f"{path.relative_to(folder).as_posix()}\0{checksums.hash_file(path)}\0" for path in files)
    return hashlib.sha256(told.encode()).hexdigest()


def _typical() -> str:
    """A chart that has what charts of reports have: steps of two runs with bands, a scale of its own, texts."""
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


#: half of the cores, as each takes a third of a second to start, beside what else is at work then
PROCESSES = max(1, min(4, (os.cpu_count() or 1) // 2))
#: drawn only to have everything loaded, and what draws compiled: the first chart of a process takes ten times as long
#: as others
TYPICAL = _typical()

_LOCK = threading.Lock()
_QUEUES: dict[Path, tuple[str, LifoQueue[Converter | None]]] = {}


class Converter:
    """A running converter that draws with the fonts of one folder."""

    def __init__(self, fonts: Path) -> None:
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  closed with the process
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(vega_process.__file__), str(fonts), VEGA_LITE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            encoding="utf-8",
        )
        self._at_work = True  # on what nobody has read an answer after
        atexit.register(self.close)
        # Nothing is answered to it: of two that write to each other more than a pipe holds, neither would go on.
        self._send({"typical": TYPICAL})

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def convert(self, spec: str, name: str) -> str:
        """A Vega-Lite specification (JSON text) as SVG text; raises `chart-refused` with what the converter says."""
        self._at_work = True
        self._send({"spec": spec})
        answer = self._receive()
        self._at_work = False
        if "error" in answer:
            raise fail(
                "chart-refused",
                f"the chart converter refuses {name}",
                expected=f"a chart of Vega-Lite {VEGA_LITE}",
                found=_cause(answer["error"]),
            )
        return str(answer["svg"])

    @property
    def runs(self) -> bool:
        """Whether its process has not ended."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process, also where it is at work for nobody."""
        if self._at_work:
            self._process.kill()
        with contextlib.suppress(OSError, ValueError):
            self._process.communicate()
        self._complaints.close()
        atexit.unregister(self.close)

    def _send(self, asked: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._ended() from None

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._ended()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _ended(self) -> AssayError:
        status = self._process.wait()
        self._complaints.seek(0)
        said = self._complaints.read().decode(errors="replace").strip().split("\n")[-1]
        return fail(
            "chart-converter",
            f"the chart converter ended with status {status}",
            found=said or "no message",
            status=INTERNAL,
        )


def _cause(text: str) -> str:
    """The line of a message that tells the cause: the last one before the places in the converter's own code."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = list(itertools.takewhile(lambda line: not line.startswith("at "), lines))
    return told[-1] if told else "no message"


def convert(spec: str, fonts: Path, state: str, name: str) -> str:
    """A Vega-Lite specification (JSON text) as SVG text, by whichever converter is free; `name` is for messages.

    `state` is the hash of the fonts: those of the folder as they now are.
    """
    idle = _idle(resolve_path(fonts), state)
    found = idle.get()
    try:
        found = found if found and found.runs else Converter(resolve_path(fonts))
        return found.convert(spec, name)
    finally:
        idle.put(found)


def start(fonts: Path) -> None:
    """Let all converters of a folder of fonts get ready, without waiting for them."""
    idle = _idle(resolve_path(fonts), fonts_hash(fonts))
    taken = [idle.get() for _ in range(PROCESSES)]
    for item in taken:
        idle.put(item or Converter(resolve_path(fonts)))


def _idle(fonts: Path, state: str) -> LifoQueue[Converter | None]:
    """The converters of a folder of fonts that have nothing to do; None where one has not been started."""
    with _LOCK:
        former, queue = _QUEUES.get(fonts, ("", LifoQueue[Converter | None]()))
        if former == state:
            return queue
        while not queue.empty():  # a converter keeps the fonts that there were when it started
            if (outdated := queue.get()) is not None:
                outdated.close()
        queue = LifoQueue()
        for _ in range(PROCESSES):
            queue.put(None)
        _QUEUES[fonts] = (state, queue)
        return queue
