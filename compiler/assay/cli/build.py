"""Define `assay build`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from assay.cli import output
from assay.cli.options import (
    RUN_HELP,
    add_by_option,
    add_cache_option,
    add_default_out_option,
    add_filter_options,
    add_forms_option,
    add_phase_options,
    add_repeats_options,
    add_results_option,
    add_summary_option,
    complete_names,
    is_default,
    open_command_workspace,
    print_last_run,
    replace_run_names,
    uses_cluster,
)


@click.command()
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
@click.option("--edition", default="", metavar="NAME",
              help="Print the rows, names, units, numbers and charts of an earlier edition of the report.")  # fmt: skip
@click.option("--columns", default="", metavar="NAME,...",
              help="Percentiles in a further table of each section: median,p95,p99,max.")  # fmt: skip
@click.option("--details", metavar="METRIC", multiple=True, shell_complete=complete_names("metrics"),
              help="Show the distribution, course and hosts of a metric (repeatable).")  # fmt: skip
@add_by_option(
    "Split the tables by a dimension, or by two (kind,region); by another column of text, such as host, name outliers"
)
@click.option("--observations", default="", metavar="FILE",
              help="Print these edited observations instead of drafted ones (see assay draft).")  # fmt: skip
@click.option("--texts", default="", metavar="FOLDER",
              help="Print the Markdown files of this folder in the parts with their names.")  # fmt: skip
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
    with open_command_workspace(hashed_runs, results) as workspace:
        if is_default(context, "runs"):
            runs = runs if workspace.is_of_runs(report) else ()
            print_last_run(context.obj["config"], [context.obj["config"].values.get("baseline", "")] if runs else [])
        if not runs and not publications and workspace.is_of_runs(report):
            raise click.UsageError("Missing option '--run'.", context)
        if options["edition"] and is_default(context, "style"):
            options["style"] = ""  # an edition has its own
        build_result = workspace.build(report, runs, out, publications=publications, forms=forms,
                                       records_results=not no_results, on=on, **options)  # fmt: skip

    from assay.cli.build_summary import summarize_build  # a cached build needs little else

    output.print_warnings(build_result.warnings)
    for place in build_result.reports:
        output.print_line(place)
    output.print_line(summarize_build(build_result.folder, time.perf_counter() - start), err=True)
