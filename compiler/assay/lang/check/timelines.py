"""Check the timelines of reports: their series, and how its lines become one for each run."""

from __future__ import annotations

from assay.lang.check.checker import Checker, Field
from assay.lang.model.package import Relation
from assay.lang.model.report import Report, RunTimeline
from assay.lang.model.series import Series
from assay.lang.series_wording import LINES
from assay.util.diagnostics import suggest_names


def check_report_timelines(checker: Checker, report: Report) -> None:
    """Check the timelines of a report."""
    series_by_name = {series.name: series for series in checker.package.series}
    for timeline in report.timelines:
        owner = f"timeline `{timeline.title}` of report `{report.name}`"
        within = (report.name, Field("timelines"))
        series = series_by_name.get(timeline.series)
        if series is None:
            checker.report_unlisted("series", timeline.series, f"in {owner}", list(series_by_name), within=within)
        elif timeline.over not in LINES:
            checker.report(
                "timeline-lines",
                f"unknown aggregation `{timeline.over}` of the lines of `{series.name}` in {owner}",
                timeline.over,
                hint=suggest_names(timeline.over, list(LINES)[1:]),
                within=within,
            )
        else:
            _check_lines(checker, owner, series, timeline, within)


def _check_lines(
    checker: Checker, owner: str, series: Series, timeline: RunTimeline, within: tuple[str | Field, ...]
) -> None:
    """Check that a series without a reduction has one value at an instant of a run."""
    windows = next((item for item in checker.package.relations if item.name == series.windows), None)
    key = windows.key if isinstance(windows, Relation) else ()
    if not timeline.over and (series.by or key):
        checker.report(
            "timeline-lines",
            f"{owner} has one line for each run, but series `{series.name}` has more",
            timeline.title,
            expected="a series without labels, whose windows have no key",
            found=f"a line for each {', '.join((*key, *series.by))}",
            hint="reduce its lines: `timelineOfMean`, `timelineOfSum`, `timelineOfLeast` or `timelineOfGreatest`",
            within=within,
        )
