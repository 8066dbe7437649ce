"""Charts drawn as soon as what they show is there, while other metrics are worked out.

The drawings are kept where whoever draws the report looks for them; who finds none draws as ever.
"""

from __future__ import annotations

import contextlib
import threading
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

from assay.build.compute import Told
from assay.build.prepare import Prepared
from assay.engine.results import Distribution, RunResults
from assay.report.assemble import chart
from assay.report.charts import draw
from assay.report.converter import PROCESSES
from assay.report.figures import RunFigures, labels
from assay.spec.diagnostics import AssayError
from assay.spec.normal_form import Checked
from assay.spec.report_model import Chart, Report

UNKNOWN = RunResults({}, {}, (), ())


class DrawnAhead:
    """Draws the charts of a report over runs that are being worked out, into a folder of drawings."""

    def __init__(self, checked: Checked, report: Report, templates: Path, kept: Path) -> None:
        self._checked, self._report = checked, report
        self._templates, self._kept = templates, kept
        self._lock = threading.Lock()
        self._found: defaultdict[str, dict[int, Distribution]] = defaultdict(dict)
        self._fresh: set[str] = set()
        self._pool = ThreadPoolExecutor(max_workers=PROCESSES)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Begin with no other chart, and end the one at hand."""
        self._pool.shutdown(cancel_futures=True)

    def watch(self, runs: Sequence[Prepared]) -> Told:
        """What is to be told of the metrics of runs."""
        named = labels(self._report, [RunFigures(item.run.id, item.constants, UNKNOWN, 0) for item in runs])
        charts = {item.metric: item for item in self._report.charts}

        def told(run: int, metric: str, found: Distribution, fresh: bool) -> None:
            if metric not in charts:
                return
            with self._lock:
                of = self._found[metric]
                of[run] = found
                if fresh:
                    self._fresh.add(metric)
                ready = len(of) == len(runs) and metric in self._fresh
            if ready:
                self._pool.submit(self._draw, charts[metric], [of[index] for index in range(len(runs))], named)

        return told

    def _draw(self, item: Chart, found: Sequence[Distribution], named: Sequence[str]) -> None:
        drawn = chart(self._checked, self._report, item, found, named)
        if drawn.has_samples:
            with contextlib.suppress(AssayError, OSError):  # which whoever draws the report tells
                list(draw([drawn], self._templates, named, self._kept))
