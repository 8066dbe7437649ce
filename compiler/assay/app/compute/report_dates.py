"""Find the date of a report, the day of its last record or what its runs state, and breaks between such days."""

from __future__ import annotations

import datetime

from assay.app.compute.computation import Computation, RunResult
from assay.lang.breaks import describe_crossed_breaks
from assay.lang.check.reports import is_day
from assay.lang.segments import is_segment
from assay.util.diagnostics import USAGE, fail
from assay.util.time_units import NANOSECONDS, SECOND

_MIN_INSTANT = 365 * NANOSECONDS["day"]  # of the year 1971; earlier ones are relative to a start


def get_report_date(computation: Computation) -> str:
    """Return the default date of a report: the day (UTC) of the last record of all runs; empty if it is not known.

    Raises AssayError if no record has a time.
    """
    runs = [run for run in computation.runs if not run.ingested_run.run.is_calibration]
    last_day = max(map(get_last_day, runs))
    if not last_day and all(_find_last_instant(run) is None for run in runs):
        raise fail(
            "no-date",
            "the report has no date, since no record of the runs has a time",
            hint="pass --date YYYY-MM-DD",
            status=USAGE,
        )
    return last_day


def get_last_day(run: RunResult) -> str:
    """Return the day (UTC) of a run's last record, else the fact `date` of the run; empty if neither is known.

    Instants in 1970 are relative to a start, so their day is none.
    """
    last_ns = _find_last_instant(run)
    if last_ns is None or last_ns < _MIN_INSTANT:
        day = run.ingested_run.constants.get("date")
        return day if isinstance(day, str) and is_day(day) else ""
    return datetime.datetime.fromtimestamp(last_ns // SECOND, tz=datetime.UTC).strftime("%Y-%m-%d")


def _find_last_instant(run: RunResult) -> int | None:
    return max((item.last_ns for item in run.ingested_run.logs if item.last_ns is not None), default=None)


def list_break_warnings(computation: Computation) -> tuple[str, ...]:
    """Return the warnings about breaks of the computed metrics between the days of the runs."""
    metrics = [item for item in computation.compiled_plan.plan.metrics if not is_segment(item.id)]
    return tuple(describe_crossed_breaks(metrics, map(get_last_day, computation.runs)))
