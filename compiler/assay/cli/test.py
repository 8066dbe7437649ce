"""Define `assay test`: run the examples of specs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click

from assay.app.author.example_fallbacks import Fallback
from assay.app.author.examples import Coverage, ExampleResults, Outcome, run_system_examples
from assay.cli import output
from assay.cli.junit import add_junit_option, write_junit
from assay.cli.options import add_system_option, open_command_session
from assay.util.diagnostics import DIFFERENCE, render
from assay.util.escape import escape_text
from assay.util.numbers import format_count

SHOWN = 12  # samples printed
NAMED = 3  # names and places printed per event


@click.command(name="test")
@add_system_option
@add_junit_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
def run_examples(system: str | None, junit: Path | None, form: str) -> int:
    """Run the examples in the specs, and list what no example covers.

    The exit status is 3 if an example fails.
    """

    with open_command_session() as session:
        results = [run_system_examples(session, item) for item in session.list_systems(system)]
        notes = session.list_workspace_notes()
    for note in notes:
        output.print_line(note, err=True)
    if junit:
        write_junit(junit, _build_suites(results))
    if form == "json":
        output.print_data([_export_results(item) for item in results])
    else:
        for item in results:
            for line in _format_lines(item):
                output.print_line(line)
    return 0 if all(item.holds for item in results) else DIFFERENCE


def _format_lines(system_results: ExampleResults) -> Iterator[str]:
    number = sum(len(item.verdicts) for item in system_results.outcomes)
    yield (
        f"{system_results.system}: {format_count(len(system_results.outcomes), 'example')}, "
        f"{format_count(number, 'expectation')}"
    )
    for item in system_results.outcomes:
        if not item.holds:
            yield from _format_failure(item)
    coverage = system_results.coverage
    for heading, names in (
        ("metrics without an example", coverage.metrics),
        ("events that no example has", coverage.events),
        (
            "alternatives that no example takes",
            [f"{b.expression_name}: {b.text} (number {b.number})" for b in coverage.branches],
        ),
    ):
        if names:
            yield f"  {heading}:"
            yield from (f"    {name}" for name in names)
    if coverage.unused_fallbacks:
        yield "  names of events and places of fields that no example has:"
        yield from _format_unseen(coverage)
    if system_results.holds:
        yield "  all examples pass"


def _format_unseen(coverage: Coverage) -> Iterator[str]:
    """Yield a line for each event: how many of its names and places are unused, and the first of them."""
    for event in dict.fromkeys(item.event for item in coverage.unused_fallbacks):
        event_fallbacks = [item for item in coverage.unused_fallbacks if item.event == event]
        fallback_texts = ", ".join(_format_fallback(item) for item in event_fallbacks[:NAMED])
        more = f", and {len(event_fallbacks) - NAMED} more" if len(event_fallbacks) > NAMED else ""
        yield f"    {event}: {len(event_fallbacks)} of {coverage.fallbacks[event]}: {escape_text(fallback_texts)}{more}"


def _format_fallback(item: Fallback) -> str:
    """Return a name of an event, or a field with one of its places."""
    return f"{item.field} at {item.text}" if item.field else item.text


def _format_failure(item: Outcome) -> Iterator[str]:
    place = f" at {item.span}" if item.span else ""
    yield f"  FAILED {item.example}{place}"
    for verdict in item.verdicts:
        if not verdict.holds:
            unit = f", {verdict.unit}" if verdict.unit else ""
            yield f"    {verdict.metric}{unit}" + (f" of {escape_text(verdict.row)}" if verdict.row else "")
            yield f"      expected: {_join_samples(verdict.expected)}"
            yield f"      found:    {_join_samples(verdict.actual)}"

    for problem in item.problems:
        yield from (f"    {line}" for line in render(problem).splitlines())


def _join_samples(samples: Sequence[str]) -> str:
    samples_text = ", ".join(samples[:SHOWN]) or "no samples"
    return samples_text + (f", and {len(samples) - SHOWN} more" if len(samples) > SHOWN else "")


def _export_results(system_results: ExampleResults) -> dict[str, Any]:
    return {
        "system": system_results.system,
        "examples": [
            {
                "example": item.example,
                "at": str(item.span or ""),
                "holds": item.holds,
                "expectations": [
                    {
                        "metric": v.metric,
                        "unit": v.unit,
                        "row": v.row,
                        "expected": v.expected,
                        "found": v.actual,
                        "holds": v.holds,
                    }
                    for v in item.verdicts
                ],
                "problems": [problem.to_json() for problem in item.problems],
            }
            for item in system_results.outcomes
        ],
        "coverage": {
            "metrics": system_results.coverage.metrics,
            "events": system_results.coverage.events,
            "alternatives": [
                {"of": b.expression_name, "number": b.number, "text": b.text} for b in system_results.coverage.branches
            ],
            "fallbacks": [
                {"event": item.event, "field": item.field, "form": item.form, "text": item.text}
                for item in system_results.coverage.unused_fallbacks
            ],
        },
    }


def _build_suites(results: Sequence[ExampleResults]) -> ElementTree.Element:
    """Return the outcomes as JUnit XML: a suite per system, a case per expectation."""

    root = ElementTree.Element("testsuites")
    for system_results in results:
        cases = [case for item in system_results.outcomes for case in _create_cases(system_results.system, item)]
        failures = sum(case.find("failure") is not None for case in cases)
        errors = sum(case.find("error") is not None for case in cases)
        attributes = {"name": system_results.system, "tests": len(cases), "failures": failures, "errors": errors}
        suite = ElementTree.SubElement(root, "testsuite", {key: str(value) for key, value in attributes.items()})
        if system_results.coverage.unused_fallbacks:
            properties = ElementTree.SubElement(suite, "properties")
            for item in system_results.coverage.unused_fallbacks:
                attribute = {"name": f"no example: {item.event}", "value": _format_fallback(item)}
                ElementTree.SubElement(properties, "property", attribute)
        suite.extend(cases)
    return root


def _create_cases(system: str, item: Outcome) -> Iterator[ElementTree.Element]:

    for verdict in item.verdicts:
        case = ElementTree.Element("testcase", {"classname": f"{system}.{item.example}", "name": verdict.metric})
        if not verdict.holds:
            message = f"expected {_join_samples(verdict.expected)}; found {_join_samples(verdict.actual)}"
            ElementTree.SubElement(case, "failure", {"message": message}).text = str(item.span or "")
        yield case
    for problem in item.problems:
        case = ElementTree.Element("testcase", {"classname": f"{system}.{item.example}", "name": problem.code})
        ElementTree.SubElement(case, "error", {"message": problem.message}).text = str(item.span or "")
        yield case
