"""Several runs of a version, calibration runs, and reports on the noise between runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay.app.compute.computation import Computation, RunResult
from assay.app.compute.report_dates import get_last_day
from assay.app.judge.judging import JudgedVersion, measure_version
from assay.app.session.options import Options
from assay.judgement.noise import CHANGES, Noise, measure_noise
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import Report
from assay.runs.model import NamedRun
from assay.util.diagnostics import USAGE, fail

LEAST_RUNS = 3
MARGIN = "--margin"
_MARGIN = re.compile(r"(\d+(?:\.\d+)?) ?%")


def check_repeats(report: Report, runs: Sequence[NamedRun], options: Options, has_phases: bool) -> None:
    """Raise AssayError (usage) for repeats, or options on them, that do not fit the report or the runs."""
    option = find_repeats_option(options)
    versions = list(dict.fromkeys(run.version or run.id for run in runs if not run.is_calibration))
    repeated = next((run.version for run in runs if run.version), "")
    if has_phases and (options.measures_noise or options.calibration or repeated):
        raise fail("repeats", f"phases cannot be compared with {option or f'several runs of `{repeated}`'}",
                   hint="build without phases, or give each run a name of its own", status=USAGE)  # fmt: skip
    if options.measures_noise:
        _check_runs_of_noise(versions if repeated else versions[:1], len(runs), options)
    elif option and report.judgement is None:
        raise fail("no-judgement", f"{option} is for judgements, but the report `{report.name}` has none",
                   hint="give the report a `judgement`", status=USAGE)  # fmt: skip
    elif option and len(versions) == 1 and not has_phases:
        raise fail("no-judgement", f"{option} is for judgements, but there is only one version: `{versions[0]}`",
                   hint="pass --run for another version", status=USAGE)  # fmt: skip


def _check_runs_of_noise(versions: Sequence[str], count: int, options: Options) -> None:
    """Raise AssayError (usage) unless a report on noise has enough runs, of one version, and no other options."""
    unfit = {"--calibrate": options.calibration, "--margin": options.margin, "--style": options.style,
             "--edition": options.edition, "--columns": options.columns, "--details": options.details,
             "--by": options.by}  # fmt: skip
    if option := next((name for name, value in unfit.items() if value), ""):
        raise fail("repeats", f"{option} does not apply to --repeats, which compares nothing", status=USAGE)
    if len(versions) > 1:
        raise fail("repeats", "--repeats takes runs of one version", found=", ".join(versions), status=USAGE)
    if count < LEAST_RUNS:
        raise fail("repeats", "too few runs show how much runs differ", status=USAGE,
                   expected=f"at least {LEAST_RUNS} runs of one version", found=str(count))  # fmt: skip


def find_repeats_option(options: Options) -> str:
    """Return the first option on repeats that the user chose; empty if none."""
    chosen = {"--repeats": options.measures_noise, "--calibrate": options.calibration, MARGIN: options.margin}
    return next((name for name, value in chosen.items() if value), "")


def override_margin(report: Report, text: str) -> Report:
    """Return a report with the margin of the command line (`3%`), if it is not empty.

    Raises AssayError (usage) if the margin is no percentage.
    """
    if not text or report.judgement is None:
        return report
    match = _MARGIN.fullmatch(text.strip())
    if match is None:
        raise fail("bad-margin", "the value of --margin is not a percentage", status=USAGE,
                   expected="a decimal number with a percent sign, such as 3%", found=text)  # fmt: skip
    margin = replace(report.judgement.margin, percent=match[1], amount="")
    return replace(report, judgement=replace(report.judgement, margin=margin))


def split_calibration(computation: Computation) -> tuple[Computation, tuple[RunResult, ...]]:
    """Return the computation of the compared runs, and the results of calibration runs."""
    compared = tuple(item for item in computation.runs if not item.ingested_run.run.is_calibration)
    calibration = tuple(item for item in computation.runs if item.ingested_run.run.is_calibration)
    return (replace(computation, runs=compared) if calibration else computation), calibration


def list_versions(columns: Sequence[RunResult]) -> list[JudgedVersion]:
    """Return the versions of runs, each with the results of its runs; a phase is a version by itself."""
    versions: dict[str, list[RunResult]] = {}
    for column in columns:
        versions.setdefault(column.ingested_run.run.version or column.id, []).append(column)
    return [
        JudgedVersion(name, tuple(item.results for item in items), tuple(map(get_last_day, items)))
        for name, items in versions.items()
    ]


def measure_metrics(
    checked: CheckedPackage, report: Report, computation: Computation, summary: str
) -> dict[str, Noise | None]:
    """Measure the noise of the metrics of a report between its runs; None without an average in each run."""
    runs = [item.results for item in computation.runs]
    names = dict.fromkeys(name for _, section in report.metric_sections for name in section.metrics)
    estimates = {name: measure_version(checked, checked.get_metric(name), runs, summary).estimates for name in names}
    return {name: measure_noise(items) if len(items) == len(runs) else None for name, items in estimates.items()}


def build_noise_data(noise: Mapping[str, Noise | None]) -> dict[str, object]:
    """Return the noise of metrics as the member `noise` of `results.json`; null for a metric without noise."""
    metrics = {
        name: {
            "mean": item.mean,
            "deviation": item.deviation,
            "percent": item.percent,
            "runs_to_detect": {
                f"{change:g}": number for change, number in zip(CHANGES, item.runs_to_detect, strict=True)
            },
        }
        if item
        else None
        for name, item in sorted(noise.items())
    }
    return {"metrics": metrics}
