"""The Python interface: open a workspace, build reports, query metrics, read samples.

import assay

shop = assay.open("shop")
shop.samples("wait", ["runs/1.0", "runs/1.1"]).df()
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from assay.app.session.cluster_settings import read_cluster_settings
from assay.app.session.config import (
    NAME,
    Config,
    expand_run_names,
    find_build_folder,
    read_config,
    require_results_folder,
)
from assay.app.session.options import BuildResult, Options
from assay.app.session.runs import parse_runs
from assay.app.session.selection import Selection
from assay.app.session.session import Session, open_session
from assay.engine.result_cache import get_default_folder
from assay.report.output_forms import order_forms
from assay.util.diagnostics import USAGE, fail
from assay.util.paths import resolve_path

if TYPE_CHECKING:
    import duckdb

    from assay.app.audit.change_explanation import Explanation
    from assay.app.compare.compared_metrics import RunComparison
    from assay.app.compute.query import Answer
    from assay.app.compute.query_memory import QueryRows
    from assay.registry.history import MetricHistory
    from assay.registry.model import RegisteredRun


class QueryOptions(TypedDict, total=False):
    """What to compute: by a column or dimensions, with which filters, in which phases, by which summary."""

    by: str
    filters: Sequence[str]
    no_filters: bool
    phases: Sequence[str]
    at: Sequence[str]
    system: str | None
    summary: str


class ExplainOptions(TypedDict, total=False):
    """What to explain: by the rules of which report, with which filters and summary."""

    report: str
    filters: Sequence[str]
    no_filters: bool
    system: str | None
    summary: str


class CompareOptions(ExplainOptions, total=False):
    """What to compare: by the rules of which report, by which dimensions, with which filters and summary."""

    by: str


def open_workspace(folder: str | Path = ".", cache: str | Path | None = None) -> Workspace:
    """Open the workspace that holds a folder; without one, the specs that come with Assay.

    The settings of its `assay.toml` apply. Raises AssayError, as all methods of the workspace.
    """
    place = resolve_path(Path(folder))
    path = next((path for parent in (place, *place.parents) if (path := parent / NAME).is_file()), None)
    config = read_config(path) if path else None
    cache_folder = cache or (config and config.get_path("cache")) or get_default_folder()
    return Workspace(open_session(place, cache_folder), config)


class Workspace:
    """An open workspace. Runs are directories, `NAME=DIR`, or names of `assay.toml` or registered runs.

    Without runs, a call takes all those of `assay.toml`.

    Close it after use, or use it in a `with` block: it may hold locks on copies of remote runs.
    """

    def __init__(self, session: Session, config: Config | None, results: Path | None = None) -> None:
        """Wrap a session. `results` is the results folder, by default that of the settings."""
        self._session = session
        self._config = config
        self._results = results or (config.get_path("results") if config else None)

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the copies of remote runs."""
        self._session.close()

    def list_definitions(self, kind: str, system: str | None = None) -> list[dict[str, str]]:
        """Return the definitions of a kind: `metrics`, `events`, `grains`, `filters`, `series` or `reports`."""
        from assay.app.session import list_definitions

        header, rows = list_definitions.list_definitions(self._session, kind, self._session.list_systems(system))
        return [dict(zip(header, row, strict=True)) for row in rows]

    def is_of_runs(self, report: str) -> bool:
        """Return whether a report is over runs, not a history. Raises AssayError (usage) if there is no such report."""
        return self._session.is_of_runs(report)

    def build(
        self,
        report: str = "",
        runs: Sequence[str | Path] = (),
        out: str | Path | None = None,
        *,
        publications: Sequence[str | Path] = (),
        forms: Sequence[str] = (),
        records_results: bool = True,
        on: str = "",
        **options: Any,
    ) -> BuildResult:
        """Build a report over runs, or a history, into the folder `out`, and return its files and warnings.

        `options` are those of `assay.app.session.options.Options`, such as `title` or `filters`. What is not passed
        comes from `assay.toml`. With a results folder, the results are recorded there unless `records_results` is
        false. `on` is the address of a cluster whose workers read logs and compute tables, such as
        `folder:/shared/queue`; an empty one is that of `assay.toml`, and `here` means no cluster.
        """
        from assay.app.build.build import ReportInputs, build_any_report, build_report
        from assay.registry.store import record_build

        values: Mapping[str, Any] = self._config.values if self._config else {}
        report = report or values.get("report", "")
        folder = out if out is not None else find_build_folder(self._config, report)
        if folder is None or not report:
            raise TypeError("build() needs a report and a folder, or an assay.toml with `report` and `output`")
        defaults = {name: values[name] for name in ("style", "author") if name in values}
        if options.get("edition"):
            defaults.pop("style", None)  # an edition has its own
        chosen = Options(forms=order_forms(tuple(forms or values.get("to", ()))), **{**defaults, **options})
        # A cached build loads no specs, so only a build without runs looks at the kind of the report.
        needs_runs = bool(runs) or (not publications and self._session.is_of_runs(report))
        named_runs = self._list_runs(runs) if needs_runs else ()
        if publications or not named_runs:
            files = [Path(file) for file in publications]
            result = build_any_report(self._session, report, ReportInputs(named_runs, files), Path(folder), chosen)
        else:
            with self._open_session(on) as session:
                result = build_report(session, report, named_runs, Path(folder), chosen)
        if self._results and records_results:
            record_build(Path(self._results), result.folder)
        return result

    @contextmanager
    def _open_session(self, on: str) -> Iterator[Session]:
        """Yield the session, with its cache filled by the workers of a cluster if one is chosen."""
        settings = read_cluster_settings(self._config, on)
        if not settings.on:
            yield self._session
            return
        from assay.app.session.entry_points import load_filler_opener

        with load_filler_opener()(self._session, settings) as session:
            yield session

    def query(
        self, metrics: str | Sequence[str], runs: Sequence[str | Path] = (), **options: Unpack[QueryOptions]
    ) -> list[dict[str, Any]]:
        """Return a row for each metric and run: its number of samples, average, median and other statistics.

        With `by`, there is a row for each value of a column, or for each segment by dimensions.
        """
        return self.answer(metrics, runs, **options).rows

    def answer(
        self, metrics: str | Sequence[str], runs: Sequence[str | Path] = (), **options: Unpack[QueryOptions]
    ) -> QueryRows:
        """Return the rows of `query`, with the filters that were applied and warnings on the data."""
        from assay.app.compute.query_memory import answer_query

        names = (metrics,) if isinstance(metrics, str) else tuple(metrics)
        return answer_query(self._session, parse_runs(self._list_runs(runs)), Selection(names, **options))

    def compute(
        self, metrics: str | Sequence[str], runs: Sequence[str | Path] = (), **options: Unpack[QueryOptions]
    ) -> Answer:
        """Return what `answer` does, as distributions."""
        from assay.app.compute.query import query_metrics

        names = [metrics] if isinstance(metrics, str) else metrics
        return query_metrics(self._session, names, parse_runs(self._list_runs(runs)), Selection(**options))

    def compare(
        self, runs: Sequence[str | Path] = (), metrics: Sequence[str] = (), **options: Unpack[CompareOptions]
    ) -> RunComparison:
        """Return the changes of metrics from the first run to the others, with intervals and verdicts.

        If the first is `median:N` or `median:N:TAG`, the others are names of runs with recorded results.
        """
        from assay.app.compare.compare_runs import compare_runs
        from assay.registry.baseline import is_median, parse_median

        names, selection = [str(run) for run in runs], Selection(tuple(metrics), **options)
        if names and is_median(names[0]):
            from assay.app.compare.compare_results import compare_results

            return compare_results(self._session, self._results_folder, parse_median(names[0]), names[1:], selection)
        return compare_runs(self._session, parse_runs(self._list_runs(runs)), selection)

    def explain_change(
        self, metric: str, runs: Sequence[str | Path] = (), **options: Unpack[ExplainOptions]
    ) -> Explanation:
        """Return the steps of a metric, or of a grain, with their changes from the first run to the others.

        The log lines of rows of the cause are read, too.
        """
        from assay.app.audit.cause_rows import add_cause_rows
        from assay.app.audit.why import explain_change

        parsed_runs = parse_runs(self._list_runs(runs))
        explanation = explain_change(self._session, metric, parsed_runs, Selection(**options))
        return add_cause_rows(self._session, explanation, parsed_runs)

    def samples(
        self,
        metric: str,
        runs: Sequence[str | Path] = (),
        *,
        filters: Sequence[str] = (),
        no_filters: bool = False,
        system: str | None = None,
    ) -> duckdb.DuckDBPyRelation:
        """Return the samples of a metric, or the values of a series, as a relation of DuckDB.

        Its methods `.arrow()`, `.df()` and `.pl()` convert it to Arrow, pandas and polars.
        """
        from assay.app.compute.samples import read_samples

        selection = Selection(system=system, filters=filters, no_filters=no_filters)
        return read_samples(self._session, metric, parse_runs(self._list_runs(runs)), selection)

    @property
    def runs(self) -> tuple[RegisteredRun, ...]:
        """The registered runs, and those that only have recorded results, by day."""
        from assay.app.compare.register_run import list_known_runs

        return tuple(item.run for item in list_known_runs(self._results_folder))

    def history(self, metric: str, *, tag: str = "", last: int = 0, system: str = "") -> MetricHistory:
        """Return a metric over recorded runs, or over those with a tag or the last ones, with its level shifts."""
        from assay.app.compare.metric_history import read_histories
        from assay.registry.history import HistoryScope

        (history,) = read_histories(self._session, self._results_folder, [metric], HistoryScope(system, tag, last))
        return history

    def results(self) -> duckdb.DuckDBPyRelation:
        """Return the recorded results as a relation of DuckDB: a row for each metric and run."""
        from assay.app.compare.metric_overview import list_shift_members, list_states
        from assay.app.compare.recorded_breaks import find_breaks
        from assay.registry.store import read_registry
        from assay.registry.tables import build_rows, load_relation

        registry = read_registry(self._results_folder)
        breaks, warnings = find_breaks(self._session, registry.recorded)
        for warning in warnings:
            self._session.notice(f"warning: {warning}")
        shifts = list_shift_members(list_states(self._session, registry))
        return load_relation(build_rows(registry.recorded, registry.runs, breaks, shifts))

    @property
    def _results_folder(self) -> Path:
        return require_results_folder(self._results)

    def _list_runs(self, runs: Sequence[str | Path]) -> tuple[str, ...]:
        """Return runs with their directories, by default those of the settings. Raises AssayError for no runs."""
        names = expand_run_names(self._config, [str(run) for run in runs])
        if not names and self._config:
            names = self._config.require_runs()
        if not names:
            raise fail("no-run", "no runs are chosen", hint=f"pass runs, or name them in {NAME}", status=USAGE)
        return names
