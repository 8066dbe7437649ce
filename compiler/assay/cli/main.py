"""Define the command line: the commands and their options.

Slow modules are imported by the commands that need them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from assay.cli import audit, output
from assay.cli.audit import catalogue
from assay.cli.author import init, lsp, schema, watch
from assay.cli.cache import cache
from assay.cli.compare import compare
from assay.cli.config import config
from assay.cli.diff import spec_diff
from assay.cli.gate import gate
from assay.cli.groups import ERROR_FORMS, SectionedGroup
from assay.cli.history import history
from assay.cli.log import FORMS
from assay.cli.observations import check_prose, draft
from assay.cli.options import (
    RUN_HELP,
    add_by_option,
    add_cache_option,
    add_default_out_option,
    add_filter_options,
    add_forms_option,
    add_one_run_option,
    add_out_option,
    add_phase_options,
    add_repeats_options,
    add_results_option,
    add_run_option,
    add_summary_option,
    add_system_option,
    add_table_option,
    apply_config,
    complete_folders,
    complete_names,
    completion,
    is_default,
    open_command_session,
    open_command_workspace,
    print_last_run,
    replace_run_names,
    uses_cluster,
)
from assay.cli.plan import plan
from assay.cli.raw_data import fetch
from assay.cli.raw_data import inspect as inspect_command
from assay.cli.registry import results as results_command
from assay.cli.registry import runs as runs_command
from assay.cli.samples import samples
from assay.cli.sarif import add_sarif_option, record_problems
from assay.cli.serve import serve
from assay.cli.slice import write_slice
from assay.cli.test import run_examples
from assay.cli.work import work

#: Formats of the rows of `assay query` that are tables of results.
FILE_FORMS = ("openmetrics", "parquet")
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(cls=SectionedGroup, context_settings=CONTEXT)
@click.version_option(package_name="assay", message="assay %(version)s")
@click.option(
    "--cache",
    metavar="DIR",
    help="Cache folder  [default: that of assay.toml, else `assay` in the user's cache folder]",
)
@click.option("--errors", type=click.Choice(ERROR_FORMS), expose_value=False, help="Format of error messages.")
@click.option("-v", "--verbose", is_flag=True, help="Print each stage with its time and memory on stderr.")
@click.option("--log-format", type=click.Choice(FORMS), help="Format of the --verbose output; implies --verbose.")
@click.pass_context
def cli(context: click.Context, cache: str | None, verbose: bool, log_format: str | None) -> None:
    """Compile metric definitions into reports."""
    context.obj = {"cache": cache, "verbose": verbose, "log_format": log_format, "config": None}
    apply_config(context)


@cli.command()
@click.argument("report", shell_complete=complete_names("reports"))
@click.option("--run", "runs", metavar="[NAME=]DIR", multiple=True, callback=replace_run_names,
              help=f"{RUN_HELP} Of a history: the folder of a build, NAME is its workload.")  # fmt: skip
@click.option("--runs", "run_lists", metavar="FILE", multiple=True, type=click.Path(path_type=Path),
              help="File with a run, [NAME=]DIR, in each line; they precede those of --run (repeatable).")  # fmt: skip
@click.option("--publication", "publications", metavar="FILE|DIR", multiple=True, type=click.Path(path_type=Path),
              help="Publication of a history, or a folder of publications (repeatable).")  # fmt: skip
@add_default_out_option
@add_forms_option
@add_filter_options
@add_summary_option
@click.option(
    "--style", default="", metavar="NAME", shell_complete=complete_names("styles"), help="Number style of the tables."
)
@click.option("--columns", default="", metavar="NAME,...",
              help="Percentiles in a further table of each section: median,p95,p99,max.")  # fmt: skip
@click.option("--details", metavar="METRIC", multiple=True, shell_complete=complete_names("metrics"),
              help="Show the distribution, course and hosts of a metric (repeatable).")  # fmt: skip
@add_by_option(
    "Split the tables by a dimension, or by two (kind,region); by another column of text, such as host, name outliers"
)
@click.option("--observations", default="", metavar="FILE",
              help="Print these edited observations instead of drafted ones (see assay draft).")  # fmt: skip
@click.option("--title", default="", help="Title of the report.")
@click.option("--author", default="", help="Author of the report.")
@click.option("--date", default="", metavar="YYYY-MM-DD", help="Date of the report  [default: last day of the logs]")
@add_phase_options
@add_repeats_options
@add_results_option
@click.option("--no-results", is_flag=True, help="Record no results.")
@click.option("--on", default="", metavar="ADDRESS",
              help="Let workers read logs and compute tables: folder:DIR, dask://HOST:PORT or ray://HOST:PORT; "
                   "`here` does not  [default: that of assay.toml]")  # fmt: skip
@add_cache_option
@click.pass_context
def build(
    context: click.Context, /, report: str, runs: tuple[str, ...], run_lists: tuple[Path, ...],
    publications: tuple[Path, ...], out: str, forms: tuple[str, ...], results: Path | None, no_results: bool, on: str,
    **options: Any,
) -> None:  # fmt: skip
    """Build a report over runs, or a history of publications and builds.

    Runs of the same NAME are repeats of one version: its column shows the means of their averages. In a report on
    groups of runs, NAME is GROUP:LABEL.

    In a file of --runs, directories are relative to the file. Empty lines, and lines that begin with #, are skipped.
    With a results folder, a build of whole runs adds its results there.
    """
    start = time.perf_counter()
    if run_lists:
        from assay.app.session.runs import read_run_lists

        runs = (*read_run_lists(run_lists), *runs)
    hashed_runs = () if uses_cluster(context, on) else (*runs, *options["calibration"])  # else workers hash files
    with open_command_workspace(context, hashed_runs, results) as workspace:
        if is_default(context, "runs"):
            runs = runs if workspace.is_of_runs(report) else ()
            print_last_run(context.obj["config"], [context.obj["config"].values.get("baseline", "")] if runs else [])
        if not runs and not publications and workspace.is_of_runs(report):
            raise click.UsageError("Missing option '--run'.", context)
        build_result = workspace.build(report, runs, out, publications=publications, forms=forms,
                                       records_results=not no_results, on=on, **options)  # fmt: skip
    from assay.cli.build_summary import summarize_build

    output.print_warnings(build_result.warnings)
    for place in build_result.reports:
        output.print_line(place)
    output.print_line(summarize_build(build_result.folder, time.perf_counter() - start), err=True)


@cli.command()
@click.argument("publication", type=click.Path(path_type=Path))
@add_out_option("Folder for the report.")
@add_forms_option
@click.option(
    "--report",
    metavar="SYSTEM/REPORT",
    shell_complete=complete_names("reports"),
    help="Published report  [default: the only report with editions]",
)
@click.option("--edition", metavar="NAME", help="Edition of the publication  [default: by its date]")
@add_cache_option
@click.pass_context
def regenerate(
    context: click.Context, publication: Path, out: str, forms: tuple[str, ...], report: str | None, edition: str | None
) -> None:
    """Rebuild a published report from its printed values."""
    from assay.app.build.regenerate import regenerate_report
    from assay.report.output_forms import order_forms

    with open_command_session(context) as session:
        result = regenerate_report(session, publication, Path(out), report, edition, order_forms(forms))
    output.print_warnings(result.warnings)
    for place in result.reports:
        output.print_line(place)


@cli.command()
@click.argument("folder", metavar="BUILD_FOLDER", shell_complete=complete_folders)
@click.option(
    "--run",
    "runs",
    metavar="NAME=DIR",
    multiple=True,
    help="New directory or address of a run that moved (repeatable).",
)
@add_cache_option
@click.pass_context
def verify(context: click.Context, folder: str, runs: tuple[str, ...]) -> int:
    """Rebuild a report from its provenance and compare every byte."""
    from assay.app.audit.verify import verify_build
    from assay.cli.printing import print_verification
    from assay.provenance.read import get_build_folder

    with open_command_session(context) as session:
        verification = verify_build(session, get_build_folder(Path(folder)), runs)
    return print_verification(verification)


@cli.command()
@add_system_option
@click.option("--accept", is_flag=True, help="Write normal forms and compiled SQL to golden/.")
@add_sarif_option
@add_cache_option
@click.pass_context
def check(context: click.Context, system: str | None, accept: bool, sarif: Path | None) -> None:
    """Check all specs: types, names, units, cycles, SQL."""
    from assay.app.author.check import check_system
    from assay.util.diagnostics import render

    with (
        open_command_session(context) as session,
        record_problems(sarif, session.workspace.root, session.localize_error),
    ):
        results = [check_system(session, item, accept) for item in session.list_systems(system)]
        notes, warnings = session.list_workspace_notes(), session.warn_of_schema()
    for note in notes:  # the checked specs may not be those that the user means
        output.print_line(note, err=True)
    for item in results:
        counts = ", ".join(_format_count(number, name) for name, number in item.counts.items())
        output.print_line(f"{item.system}: {counts}: no problem")
        if not item.is_current:
            state = "is outdated" if item.is_committed else "is missing"
            message = f"{item.system}: the normal form in golden/specs {state}; run `assay check --accept` to write it"
            output.print_line(message, err=True)
    for warning in warnings:
        output.print_text(render(warning), err=True)


def _format_count(number: int, plural: str) -> str:
    """Return a number with its noun: `1 source`, `23 events`."""
    singular = plural if plural == "series" else plural[:-3] + "y" if plural.endswith("ies") else plural[:-1]
    return f"{number} {singular if number == 1 else plural}"


@cli.command(name="list")
@click.argument("kind", type=click.Choice(["metrics", "events", "grains", "columns", "filters", "series", "reports"]))
@add_system_option
@add_table_option
@add_cache_option
@click.pass_context
def list_(context: click.Context, kind: str, system: str | None, form: str) -> None:
    """List metrics, events, grains, columns, filters, series or reports.

    The column `--by` says which columns `--by` takes: dimensions split metrics, of others it prints the values.
    """
    from assay.app.session.list_definitions import list_definitions

    with open_command_session(context) as session:
        header, rows = list_definitions(session, kind, session.list_systems(system))
    output.print_rows(header, rows, form)


@cli.command()
@click.argument("metrics", nargs=-1, required=True, shell_complete=complete_names("metrics"))
@add_run_option
@add_by_option(
    "Print a row for each value of a dimension, or of two (kind,region), or of another column of text, such as host"
)
@add_filter_options
@add_phase_options
@add_system_option
@add_summary_option
@click.option("--format", "form", type=click.Choice(["table", "json", "csv", *FILE_FORMS]), default="table",
              help="Output format; `parquet` needs a file.")  # fmt: skip
@click.option("-o", "--out", "file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
              help="Write OpenMetrics text or Parquet to this file.")  # fmt: skip
@add_cache_option
@click.pass_context
def query(
    context: click.Context, metrics: tuple[str, ...], runs: tuple[str, ...], filters: tuple[str, ...],
    no_filters: bool, phases: tuple[str, ...], at: tuple[str, ...], system: str | None, summary: str, form: str,
    by: str, file: Path | None,
) -> None:  # fmt: skip
    """Compute metrics and print their distributions: in JSON with all percentiles.

    `assay list metrics` lists the metrics, and `assay list columns` what --by takes.

    OpenMetrics text and Parquet have the statistics of `assay results export`.
    """
    if form == "parquet" and file is None:
        raise click.UsageError("The format parquet needs a file: pass -o FILE.", context)
    if file is not None and form not in FILE_FORMS:
        raise click.UsageError(f"-o goes with --format {' or '.join(FILE_FORMS)}: redirect other output.", context)
    from assay.cli.printing import print_answer

    with open_command_workspace(context) as workspace:
        answer = workspace.compute(metrics, runs, by=by, filters=filters, no_filters=no_filters, phases=phases, at=at,
                                   system=system, summary=summary)  # fmt: skip
    output.print_warnings(answer.warnings)
    if form in FILE_FORMS:
        from assay.app.compute.query import build_answer_rows
        from assay.registry.tables import format_table, write_table_file

        rows = build_answer_rows(answer)
        if file is not None:
            write_table_file(rows, form, file)
        else:
            output.print_text(format_table(rows, form).removesuffix("\n"))
    else:
        print_answer(answer, form)


@cli.command()
@click.argument("metric", shell_complete=complete_names("metrics"))
@add_one_run_option("DIR", "Ingest this run, and read its Parquet files where they are.")
@add_filter_options
@click.option("--phase", metavar="NAME[=FROM..TO]", default="", help="Print the SQL for this phase of the run.")
@click.option("--at", metavar="NAME=TIME", multiple=True, help="Time of an instant at which the phase begins or ends.")
@add_system_option
@add_cache_option
@click.pass_context
def sql(
    context: click.Context,
    metric: str,
    run: str | None,
    filters: tuple[str, ...],
    no_filters: bool,
    phase: str,
    at: tuple[str, ...],
    system: str | None,
) -> None:
    """Print the SQL of a metric as one statement.

    With --run, the statement has absolute paths of the run's files and works in any DuckDB shell. Without --run, it
    works in the folder that `assay ingest` prints, for metrics of a single source.
    """
    from assay.app.compute.metric_sql import compile_metric_sql
    from assay.app.session.runs import parse_runs

    with open_command_session(context) as session:
        named_run = parse_runs([run])[0] if run else None
        text = compile_metric_sql(session, metric, filters, no_filters, system, named_run, phase, at)
    output.print_text(text)


@cli.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", callback=replace_run_names)
@add_system_option
@click.option("--all", "everything", is_flag=True, help="Ingest all events instead of only those that metrics need.")
@add_cache_option
@click.pass_context
def ingest(context: click.Context, runs: tuple[str, ...], system: str | None, everything: bool) -> None:
    """Ingest runs to Parquet, and print the folder of each source of each run.

    If there are several folders, their runs and sources are printed on stderr.
    """
    with open_command_session(context, runs) as session:
        from assay.app.compute.ingest import ingest_runs  # imported while files are hashed
        from assay.app.session.runs import parse_runs

        ingested_sources = ingest_runs(session, parse_runs(runs), system, everything)
    for item in ingested_sources:
        if len(ingested_sources) > 1:
            output.print_line(f"run {item.run}, source {item.source}:", err=True)
        output.print_line(item.folder)


for command in (
    init,
    config,
    schema,
    watch,
    run_examples,
    write_slice,
    compare,
    spec_diff,
    gate,
    draft,
    check_prose,
    runs_command,
    results_command,
    history,
    plan,
    serve,
    work,
    fetch,
    samples,
    inspect_command,
    lsp,
    catalogue,
    completion,
    cache,
    *audit.COMMANDS,
):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors become messages on stderr and an exit status, never a traceback."""
    from assay.cli.errors import run
    from assay.cli.output import open_standard_streams

    open_standard_streams()
    sys.exit(run(cli, arguments))


if __name__ == "__main__":
    main()
