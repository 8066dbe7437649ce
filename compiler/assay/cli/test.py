"""`assay test`: the examples of specs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import output
from assay.cli.options import system_option
from assay.util.escape import escape_text
from assay.util.numbers import format_count

if TYPE_CHECKING:
    from xml.etree import ElementTree

    from assay.app.examples import Coverage, Fallback, Outcome, Tested

SHOWN = 12  # samples that are printed
NAMED = 3  # names and places of an event that are printed


@click.command(name="test")
@system_option
@click.option("--junit", metavar="FILE", type=click.Path(path_type=Path), help="Also write the results as JUnit XML.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@click.pass_context
def examples(context: click.Context, system: str | None, junit: Path | None, form: str) -> int:
    """Run the examples in the specs, and list what no example covers.

    Exits with status 3 if an example fails.
    """
    from assay.app.check_and_query import all_systems
    from assay.app.examples import test
    from assay.cli.options import working
    from assay.util.diagnostics import DIFFERENCE

    with working(context) as session:
        found = [test(session, item) for item in all_systems(session, system)]
        whose = session.elsewhere()
    for note in whose:
        output.line(note, err=True)
    if junit:
        _write(junit, found)
    if form == "json":
        output.data([_data(item) for item in found])
    else:
        for item in found:
            for line in _lines(item):
                output.line(line)
    return 0 if all(item.holds for item in found) else DIFFERENCE


def _lines(tested: Tested) -> Iterator[str]:
    number = sum(len(item.verdicts) for item in tested.outcomes)
    yield f"{tested.system}: {format_count(len(tested.outcomes), 'example')}, {format_count(number, 'expectation')}"
    for item in tested.outcomes:
        if not item.holds:
            yield from _failed(item)
    coverage = tested.coverage
    for what, names in (
        ("metrics without an example", coverage.metrics),
        ("events that no example has", coverage.events),
        ("alternatives that no example takes", [f"{b.of}: {b.text} (number {b.number})" for b in coverage.branches]),
    ):
        if names:
            yield f"  {what}:"
            yield from (f"    {name}" for name in names)
    if coverage.unseen:
        yield "  names of events and places of fields that no example has:"
        yield from _unseen(coverage)
    if tested.holds:
        yield "  every example comes out as it says"


def _unseen(coverage: Coverage) -> Iterator[str]:
    """A line for each event: how many it has of how many, and the first of them."""
    for event in dict.fromkeys(item.event for item in coverage.unseen):
        own = [item for item in coverage.unseen if item.event == event]
        told = ", ".join(_called(item) for item in own[:NAMED])
        more = f", and {len(own) - NAMED} more" if len(own) > NAMED else ""
        yield f"    {event}: {len(own)} of {coverage.fallbacks[event]}: {escape_text(told)}{more}"


def _called(item: Fallback) -> str:
    """A name of an event, or a field with a place of it."""
    return f"{item.field} at {item.text}" if item.field else item.text


def _failed(item: Outcome) -> Iterator[str]:
    place = f" at {item.span}" if item.span else ""
    yield f"  FAILED {item.example}{place}"
    for verdict in item.verdicts:
        if not verdict.holds:
            yield f"    {verdict.metric}, {verdict.unit}" if verdict.unit else f"    {verdict.metric}"
            yield f"      expected: {_texts(verdict.expected)}"
            yield f"      found:    {_texts(verdict.found)}"
    from assay.util.diagnostics import render

    for problem in item.problems:
        yield from (f"    {line}" for line in render(problem).splitlines())


def _texts(samples: Sequence[str]) -> str:
    shown = ", ".join(samples[:SHOWN]) or "no samples"
    return shown + (f", and {len(samples) - SHOWN} more" if len(samples) > SHOWN else "")


def _data(tested: Tested) -> dict[str, Any]:
    return {
        "system": tested.system,
        "examples": [
            {
                "example": item.example,
                "at": str(item.span or ""),
                "holds": item.holds,
                "expectations": [
                    {"metric": v.metric, "unit": v.unit, "expected": v.expected, "found": v.found, "holds": v.holds}
                    for v in item.verdicts
                ],
                "problems": [problem.to_json() for problem in item.problems],
            }
            for item in tested.outcomes
        ],
        "coverage": {
            "metrics": tested.coverage.metrics,
            "events": tested.coverage.events,
            "alternatives": [{"of": b.of, "number": b.number, "text": b.text} for b in tested.coverage.branches],
            "fallbacks": [
                {"event": item.event, "field": item.field, "form": item.form, "text": item.text}
                for item in tested.coverage.unseen
            ],
        },
    }


def _write(place: Path, found: Sequence[Tested]) -> None:
    """The outcomes as JUnit XML: a suite a system, a case an expectation; AssayError when it cannot be written.

    XML has no form for most control characters: they are escapes, as on a terminal.
    """
    from xml.etree import ElementTree

    from assay.util.diagnostics import fail
    from assay.util.escape import escape_lines

    root = ElementTree.Element("testsuites")
    for tested in found:
        cases = [case for item in tested.outcomes for case in _cases(tested.system, item)]
        failures = sum(case.find("failure") is not None for case in cases)
        errors = sum(case.find("error") is not None for case in cases)
        attributes = {"name": tested.system, "tests": len(cases), "failures": failures, "errors": errors}
        suite = ElementTree.SubElement(root, "testsuite", {key: str(value) for key, value in attributes.items()})
        if tested.coverage.unseen:
            told = ElementTree.SubElement(suite, "properties")
            for item in tested.coverage.unseen:
                property_of = {"name": f"no example: {item.event}", "value": _called(item)}
                ElementTree.SubElement(told, "property", property_of)
        suite.extend(cases)
    for element in root.iter():
        element.attrib.update({name: escape_lines(text) for name, text in element.attrib.items()})
        element.text = escape_lines(element.text) if element.text else None
    ElementTree.indent(root)
    try:
        ElementTree.ElementTree(root).write(place, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise fail("output", f"the file cannot be written: {error.strerror}: {place}") from None


def _cases(system: str, item: Outcome) -> Iterator[ElementTree.Element]:
    from xml.etree import ElementTree

    for verdict in item.verdicts:
        case = ElementTree.Element("testcase", {"classname": f"{system}.{item.example}", "name": verdict.metric})
        if not verdict.holds:
            message = f"expected {_texts(verdict.expected)}; found {_texts(verdict.found)}"
            ElementTree.SubElement(case, "failure", {"message": message}).text = str(item.span or "")
        yield case
    for problem in item.problems:
        case = ElementTree.Element("testcase", {"classname": f"{system}.{item.example}", "name": problem.code})
        ElementTree.SubElement(case, "error", {"message": problem.message}).text = str(item.span or "")
        yield case
