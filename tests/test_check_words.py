"""Words of specs that there are not, and what report and check cannot do: told by `assay check`, with a place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.lang.check.check import check
from assay.lang.model.expression import Expression
from assay.lang.model.package import Event, Name, Package, Reduction
from assay.lang.model.report import FilterUse, Label
from assay.lang.reserved_names import EVENTS
from assay.lang.workspace import load as loaded
from assay.lang.workspace import shipped
from assay.util.diagnostics import render
from tests.support.workspaces import NOWHERE

Change = Callable[[Package], Package]


@pytest.fixture(scope="module")
def package(cache: Path) -> Package:
    return loaded(shipped(), "cardano", cache).package


def _instant(package: Package, name: str, **changes: Any) -> Package:
    grain = next(item for item in package.grains if item.name == "block")
    instants = tuple(replace(item, **changes) if item.name == name else item for item in grain.instants)
    changed = replace(grain, instants=instants)
    return replace(package, grains=tuple(changed if item is grain else item for item in package.grains))


def _metric(package: Package, **changes: Any) -> Package:
    old = next(item for item in package.metrics if item.id == "cdfForgerStart")
    new = replace(old, **changes)
    return replace(package, metrics=tuple(new if item is old else item for item in package.metrics))


def _report(package: Package, **changes: Any) -> Package:
    (report,) = package.reports
    return replace(package, reports=(replace(report, **changes),))


def _chart(package: Package, **changes: Any) -> Package:
    first, *others = package.reports[0].charts
    return _report(package, charts=(replace(first, **changes), *others))


def _row(package: Package, relation: str, column: str, kind: str) -> Package:
    first, *others = package.reports[0].manifest
    cell = replace(first.cell, kind=kind)
    return _report(
        package, manifest=(replace(first, constant="", relation=relation, column=column, cell=cell), *others)
    )


def _twice(package: Package, part: str) -> Package:
    first, *others = getattr(package.reports[0], part)
    return _report(package, **{part: (first, first, *others)})


def _key(package: Package, key: tuple[str, ...]) -> Package:
    grain = next(item for item in package.grains if item.name == "observation")
    changed = replace(grain, key=key)
    return replace(package, grains=tuple(changed if item is grain else item for item in package.grains))


def _before(package: Package, **before: str) -> Package:
    """The instants named are each the latest before another."""
    for name, other in before.items():
        package = _instant(package, name, pick="latest before", before=other)
    return package


def _severity(package: Package) -> Package:
    relation = next(item for item in package.relations if item.checks)
    changed = replace(relation, checks=(replace(relation.checks[0], severity="eror"), *relation.checks[1:]))
    return replace(package, relations=tuple(changed if item is relation else item for item in package.relations))


def _severity_of_grain(package: Package) -> Package:
    grain = next(item for item in package.grains if item.name == "block")
    changed = replace(grain, checks=(replace(grain.checks[0], severity=""), *grain.checks[1:]))
    return replace(package, grains=tuple(changed if item is grain else item for item in package.grains))


def _deviation(package: Package) -> Package:
    first, *others = package.summaries
    return replace(package, summaries=(replace(first, deviation="meen"), *others))


def _cell(package: Package) -> Package:
    first, *others = package.reports[0].manifest
    return _report(package, manifest=(replace(first, cell=replace(first.cell, kind="txt")), *others))


def _event(package: Package, name: str, change: Callable[[Event], Event]) -> Package:
    return replace(package, events=tuple(change(item) if item.name == name else item for item in package.events))


def _names(package: Package, name: str, *names: Name) -> Package:
    """The first form of an event has these names, and it has no other form."""
    return _event(package, name, lambda event: replace(event, forms=(replace(event.forms[0], names=names),)))


def _other_fields(package: Package) -> Package:
    """The last form of the event with several has one field less."""

    def fewer(event: Event) -> Event:
        *forms, last = event.forms
        return replace(event, forms=(*forms, replace(last, fields=last.fields[1:])))

    return _event(package, "block_adopted", fewer)


def _source(package: Package, **changes: Any) -> Package:
    first, *others = package.sources
    return replace(package, sources=(replace(first, **changes), *others))


def _edition(package: Package, index: int, **changes: Any) -> Package:
    editions = list(package.reports[0].editions)
    editions[index] = replace(editions[index], **changes)
    return _report(package, editions=tuple(editions))


def _alike(package: Package) -> Package:
    """Two rows of the last edition are called the same."""
    return _edition(package, -1, labels=tuple(Label(metric, "CPU", "") for metric in ("CentiCpu", "CentiMut")))


def _break(package: Package, **changes: Any) -> Package:
    (history,) = package.histories
    first, *others = history.breaks
    return replace(package, histories=(replace(history, breaks=(replace(first, **changes), *others)),))


def _example_twice(package: Package) -> Package:
    return replace(package, examples=(package.examples[0], *package.examples))


def _at(package: Package) -> Package:
    """Observations, which are of blocks, have an instant of their own by which phases cut them."""
    grains = (replace(item, at="noticed") if item.name == "observation" else item for item in package.grains)
    return replace(package, grains=tuple(grains))


def _applied(package: Package, use: FilterUse) -> Package:
    first, *others = package.examples
    return replace(package, examples=(replace(first, filters=(use,)), *others))


EMPTY = Expression("or", ())
CELLS = "text, unsuffixed, integer, real, spread, date, time"
SLIPS: dict[str, tuple[Change, str]] = {
    "a pick": (lambda p: _instant(p, "started", pick="frist"),
        "error[unknown-word]: instant `started` of grain `block` is picked in no known way\n"
        "  expected: first, last, latest before, computed\n  found:    frist\n  hint: did you mean `first`?"),
    "an instant before one that there is not": (lambda p: _instant(p, "started", pick="latest before", before="nope"),
        "error[instant-before]: instant `started` of grain `block` is the latest before an instant that the grain has "
        "not: `nope`"),
    "an instant before itself": (lambda p: _instant(p, "started", pick="latest before", before="started"),
        "error[instant-before]: instant `started` of grain `block` is the latest before an instant that the grain has "
        "not: `started`"),
    "an instant before one that is computed":
        (lambda p: _instant(p, "started", pick="latest before", before="slot_start"),
        "error[instant-before]: instant `started` of grain `block` is the latest before `slot_start`, which is "
        "computed: it stands at no place in a log\n  expected: an instant that is a record's\n  found:    computed"),
    "an instant computed of nothing": (lambda p: _instant(p, "started", pick="computed", value=None),
        "error[instant-value]: instant `started` of grain `block` is computed, and does not say of what"),
    "a reduction": (lambda p: _metric(p, reduction=Reduction(("host",), "avg", 0.0)),
        "error[unknown-word]: metric `cdfForgerStart` is reduced in no known way\n"
        "  expected: min, max, sum, count, centile\n  found:    avg"),
    "a centile below all": (lambda p: _metric(p, reduction=Reduction(("host",), "centile", -0.5)),
        "error[centile]: metric `cdfForgerStart` is reduced to a centile that there is not\n"
        "  expected: from 0 to 1\n  found:    -0.5"),
    "a centile beyond all": (lambda p: _metric(p, reduction=Reduction(("host",), "centile", 1.5)),
        "error[centile]: metric `cdfForgerStart` is reduced to a centile that there is not\n"
        "  expected: from 0 to 1\n  found:    1.5"),
    "a number in the unit of what is counted": (lambda p: _metric(p, reduction=Reduction(("host",), "count", 0.0)),
        "error[unit]: metric `cdfForgerStart` is measured in a unit that does not convert to its own\n"
        "  expected: second\n  found:    count\n"),
    "a condition of none": (lambda p: _metric(p, where=EMPTY),
        "error[type]: metric `cdfForgerStart` has a value of the wrong type in "),
    "a scale": (lambda p: _chart(p, scale="lg"),
        "error[unknown-word]: report `comparison` has a chart of `"),
    "a relation of a row": (lambda p: _row(p, "nope", "x", "integer"),
        "error[unknown-relation]: row `"),
    "a column of a row": (lambda p: _row(p, "run_summary", "machine", "integer"),
        "error[unknown-column]: row `"),
    "a text as a day": (lambda p: _row(p, "run_summary", "machines", "date"),
        "error[cell-type]: row `"),
    "two charts of a metric": (lambda p: _twice(p, "charts"),
        "error[duplicate-part]: report `comparison` has 2 charts of `"),
    "two sections of a title": (lambda p: _twice(p, "sections"),
        "error[duplicate-part]: report `comparison` has 2 sections called `"),
    "an unknown filter": (lambda p: _report(p, filters=(FilterUse("unitry", ""),)),
        "error[unknown-filter]: report `comparison` applies an unknown filter `unitry`\n"
        "  hint: did you mean `unitary`?"),
    "a filter without its argument": (lambda p: _report(p, filters=(FilterUse("slot-leq", ""),)),
        "error[filter-argument]: report `comparison` applies filter `slot-leq` without its argument\n"),
    "a filter with an argument that it does not take": (lambda p: _report(p, filters=(FilterUse("unitary", "3"),)),
        "error[filter-argument]: report `comparison` applies filter `unitary` with an argument\n"
        "  expected: none\n  found:    3"),
    "a severity": (_severity,
        "error[unknown-word]: check `no-forger` of relation `chain` is of an unknown severity\n"
        "  expected: error, warning\n  found:    eror\n  hint: did you mean `error`?"),
    "no severity": (_severity_of_grain,
        "error[unknown-word]: check `slots-unfit` of grain `block` is of an unknown severity\n"
        "  expected: error, warning\n  found:    nothing"),
    "a deviation": (_deviation,
        "error[unknown-word]: summary `{summary}` shows an unknown deviation\n"
        "  expected: greatest, mean\n  found:    meen\n  hint: did you mean `mean`?"),
    "the kind of a cell": (_cell,
        "error[unknown-word]: row `{row}` of report `comparison` is of an unknown kind\n"
        f"  expected: {CELLS}\n  found:    txt\n  hint: did you mean `text`?"),
    "an instant before another, which is before it": (lambda p: _before(p, started="forged", forged="started"),
        "error[cycle]: instant `started` of grain `block` is picked by way of itself: started -> forged -> started"),
    "an unknown filter of an example": (lambda p: _applied(p, FilterUse("unitry", "")),
        "error[unknown-filter]: example `{example}` applies an unknown filter `unitry`\n"
        "  hint: did you mean `unitary`?"),
    "a filter of an example without its argument": (lambda p: _applied(p, FilterUse("slot-leq", "")),
        "error[filter-argument]: example `{example}` applies filter `slot-leq` without its argument\n"
        "  expected: n, integer\n  found:    none"),
    "a key that does not tell rows apart": (lambda p: _key(p, ("block",)),
        "error[grain-key]: grain `observation` has a key that does not tell the rows of relation `observations` apart\n"
        "  expected: block, host\n  found:    block"),
    "a name of two events": (lambda p: _names(p, "tx_rejected", Name("new", "Resources")),
        "error[ambiguous-event]: `Resources` is a name of the events `resources` and `tx_rejected`\n"
        "  hint: a record can be one event only"),
    "a name of a generation that is not looked up": (lambda p: _names(p, "tx_rejected", Name("newer", "X")),
        "error[unknown-generation]: event `tx_rejected` has a name of generation `newer`, which source "
        "`workbench_logs` does not look up\n  hint: did you mean `new`?"),
    "an event that no record can be": (lambda p: _names(p, "tx_rejected"),
        "error[event-without-name]: no record can be event `tx_rejected`: it has no name"),
    "forms of one event with other fields": (_other_fields,
        "error[event-forms]: the forms of event `block_adopted` have different fields\n"
        "  expected: block, chain_delta, size\n  found:    chain_delta, size"),
    "a log of blocks": (lambda p: _source(p, begins="Block"),
        "error[source-begins]: source `workbench_logs` is not of blocks\n"
        "  expected: `begins` of a source of kind `blocks`, and of no other\n"
        "  found:    kind `json-lines`, begins `Block`"),
    "an instant of another grain": (lambda p: _instant(p, "started", grain="slot"),
        "error[foreign-instant]: grain `block` lists an instant of grain `slot`: `started`"),
    "phases that cut rows by two instants": (_at,
        "error[phase-instant]: phases cut grain `observation` by an instant of its own, and by that of `block`\n"
        "  hint: leave out `at`: its rows follow those of the other grain"),
    "two examples of a name": (_example_twice,
        "error[duplicate-example]: 2 examples are called `{example}`\n  hint: rename all but one"),
    "a summary of a report": (lambda p: _report(p, summary="publishd"),
        "error[unknown-summary]: report `comparison` uses an unknown summary `publishd`\n"
        "  hint: did you mean `published`?"),
    "two editions of a name": (lambda p: _edition(p, 1, name="2023-12"),
        "error[duplicate-edition]: 2 editions of report `comparison` are called `2023-12`\n"
        "  hint: rename all but one"),
    "an edition since a day that there is not": (lambda p: _edition(p, 0, since="2023-02-29"),
        "error[edition-day]: edition `2023-12` of report `comparison` begins on a day that does not exist\n"
        "  expected: YYYY-MM-DD\n  found:    2023-02-29"),
    "an edition on the day of the one before": (lambda p: _edition(p, 1, since="2023-12-01"),
        "error[edition-order]: edition `2024-03` of report `comparison` begins no later than the one before it\n"
        "  expected: a day after 2023-12-01\n  found:    2023-12-01\n"
        "  hint: editions stand in the order of their days"),
    "two rows of an edition that are called the same": (_alike,
        "error[duplicate-label]: edition `2026-02` of report `comparison` has 2 rows called `CPU` in Resource Usage\n"
        "  hint: name one of them otherwise in the edition's `labels`"),
    "a history without editions": (lambda p: _report(p, editions=()),
        "error[no-editions]: history `history` is of the report `comparison`, which has no editions\n"
        "  hint: publications are read by the editions of their report"),
    "a break of nothing": (lambda p: _break(p, metrics=()),
        "error[break-metrics]: history `history` has a break without metrics"),
    "a break on a day that there is not": (lambda p: _break(p, since="2024-13-01"),
        "error[break-day]: history `history` has a break on a day that does not exist\n"
        "  expected: YYYY-MM-DD\n  found:    2024-13-01"),
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_told(package: Package, slip: str) -> None:
    change, said = SLIPS[slip]
    said = said.replace("{summary}", package.summaries[0].name).replace("{example}", package.examples[0].name)
    said = said.replace("{row}", package.reports[0].manifest[0].id)
    problem, *_ = check(change(package), NOWHERE)
    assert render(problem).startswith(said)


@pytest.mark.parametrize("name", [*sorted(EVENTS), "Host"])
def test_fields_are_not_called_as_columns_that_every_event_has(package: Package, name: str) -> None:
    """Of a field called `host` the folder's name was read, whatever the record said; of `form` a number."""
    changed = _event(
        package,
        "txs_collected",
        lambda event: replace(
            event, forms=tuple(replace(form, fields=(replace(form.fields[0], name=name),)) for form in event.forms)
        ),
    )
    first, *_ = check(changed, NOWHERE)
    assert render(first) == (
        f"error[reserved-name]: event `txs_collected` has a field called `{name}`, which is what the compiler calls a "
        "column of its own\n  hint: rename the field: it may have another name than the key that it is read from, "
        f'`E.at [ "{name}" ]`'
    )


def test_a_circle_of_instants_is_told_of_those_in_it(package: Package) -> None:
    """`started` leads to the circle and is not in it; what an instant is not picked by does not count."""
    changed = _before(package, started="forged", forged="adopted", adopted="forged")
    told = check(changed, NOWHERE)
    assert [item.message for item in told if item.code == "cycle"] == [
        "instant `forged` of grain `block` is picked by way of itself: forged -> adopted -> forged",
        "instant `adopted` of grain `block` is picked by way of itself: adopted -> forged -> adopted",
    ]
    first = _instant(_before(package, started="forged"), "forged", pick="first", before="started")
    assert check(first, NOWHERE) == ()


def test_check_unknown_kind_of_source_reports_it(package: Package) -> None:
    first, *others = package.sources
    changed = replace(package, sources=(replace(first, kind="json"), *others))
    assert [problem.code for problem in check(changed, NOWHERE)] == ["unknown-kind"]
