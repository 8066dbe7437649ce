"""Bad specs, as the command line answers them: where the slip is, what was expected, and what may have been meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compare_reference import CARDANO
from tests.support.commands import assay, build
from tests.support.outcomes import FORMER, contents, former_outputs, message
from tests.support.workspaces import Edit, workspace

PLAIN = f"plain={CARDANO / 'tiny' / 'plain' / 'run'}"
FORGING = "specs/cardano/metrics/forging.dhall"
BLOCK = "specs/cardano/grains/block.dhall"
UNITS = "specs/cardano/units.dhall"
RELATIONS = "specs/cardano/relations.dhall"
PACKAGE = "specs/cardano/package.dhall"
SCHEMA = "let S = ../schema/package.dhall"

SLIPS: dict[str, tuple[Edit, str]] = {
    "a misspelt anchor": (
        (FORGING, "elapsed at.slotStart at.started", "elapsed at.slotStart at.startd"),
        """\
error[dhall-type]: unknown field `startd` in `at`
  at specs/cardano/metrics/forging.dhall:30:47
    30 |           , measure = elapsed at.slotStart at.startd
       |                                               ^^^^^^
  hint: did you mean `started`?
""",
    ),
    "a misspelt field of an event": (
        (BLOCK, "G.same c.block f.block", "G.same c.block f.blok"),
        """\
error[dhall-type]: unknown field `blok` in `f`
  at specs/cardano/grains/block.dhall:49:65
    49 |         , on = [ G.sameColumn c.forger c.host, G.same c.block f.blok ]
       |                                                                 ^^^^
  hint: did you mean `block`?
""",
    ),
    "a misspelt key of a definition": (
        (FORGING, ', name = "Ledger ticking"', ', nam = "Ledger ticking"'),
        """\
error[dhall-type]: unknown field `nam` in the argument of `forging`
  at specs/cardano/metrics/forging.dhall:65:13
    65 |           , nam = "Ledger ticking"
       |             ^^^
  expected: { id, name, measure, doc }
  found:    { id, nam, measure, doc }
  hint: did you mean `name`?
""",
    ),
    "a comma that is missing": (
        (FORGING, ', name = "Ledger ticking"', ' name = "Ledger ticking"'),
        """\
error[dhall-parse]: unexpected `=`
  at specs/cardano/metrics/forging.dhall:65:17
    65 |            name = "Ledger ticking"
       |                 ^
  expected: `,` or `}`
  note: inside the `{` opened at 64:11
  hint: a comma may be missing before `name`
""",
    ),
    "a unit that does not convert": (
        (FORGING, "unit = U.second", "unit = U.byte"),
        """\
error[unit]: metric `cdfForgerStart` is measured in a unit that does not convert to its own
  at specs/cardano/metrics/forging.dhall:30:23
    30 |           , measure = elapsed at.slotStart at.started
       |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  expected: byte
  found:    nanosecond
  note: 11 more like it: specs/cardano/metrics/forging.dhall:37:23, specs/cardano/metrics/forging.dhall:44:23, \
specs/cardano/metrics/forging.dhall:51:23, ...
  hint: one of the two units is not the right one; `asUnit` would claim the other, and convert nothing
""",
    ),
    "a sum of seconds and bytes": (
        (FORGING, "X.quantity 0.01 U.second", "X.quantity 0.01 U.byte"),
        """\
error[unit]: metric `cdfForgerAnnounce` mixes units that do not convert
  at specs/cardano/metrics/forging.dhall:89:23
    89 |           , measure = elapsedOrAssumed at.forged at.announced
       |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  expected: nanosecond
  found:    byte
  note: 3 more like it: specs/cardano/metrics/forging.dhall:97:23, specs/cardano/metrics/forging.dhall:105:23, \
specs/cardano/metrics/forging.dhall:112:23
  hint: one of the two units is not the right one; `asUnit` would claim the other, and convert nothing
""",
    ),
    "a unit that nobody knows": (
        (UNITS, 'unit "slot" "slots"', 'unit "slotz" "slots"'),
        """\
error[unknown-unit]: field `slot` of event `leadership_check_started` is in an unknown unit `slotz`
  at specs/cardano/units.dhall:6:19
    6 | in  { slot = unit "slotz" "slots"
      |                   ^^^^^^^
  note: 68 more like it
  hint: did you mean `slot`?
""",
    ),
    "an event that does not exist": (
        (BLOCK, "events.mempoolSnapshot", "events.mempoolSnapshoot"),
        """\
error[dhall-type]: unknown field `mempoolSnapshoot` in `events`
  at specs/cardano/grains/block.dhall:69:45
    69 |       , snapshot = latest "snapshot" events.mempoolSnapshoot "The mempool's snapshot was taken"
       |                                             ^^^^^^^^^^^^^^^^
  hint: did you mean `mempoolSnapshot`?
""",
    ),
    "an event that the package does not list": (
        (PACKAGE, "      , e.mempoolSnapshot\n", ""),
        """\
error[unknown-table]: relation `timeline` uses an unknown table `mempool_snapshot`
  at specs/cardano/relations.dhall:291:15
    291 |             , events.mempoolSnapshot.name
        |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^
  note: 1 more like it: specs/cardano/grains/block.dhall:33:16
  hint: is it in the package's lists? did you mean `ledger_snapshot` or `mempool_size`?
""",
    ),
    "a table of a grain's check that does not exist": (
        ("specs/cardano/grains/slot.dhall", 'uses = [ name, "logs" ]', 'uses = [ name, "lgos" ]'),
        """\
error[unknown-table]: check `no-slot-left` of grain `slot` uses an unknown table `lgos`
  at specs/cardano/grains/slot.dhall:83:28
    83 |           , uses = [ name, "lgos" ]
       |                            ^^^^^^
  hint: is it in the package's lists? did you mean `logs`?
""",
    ),
    "an event named by a text": (
        (BLOCK, "of = event.name", 'of = "block_forgd"'),
        """\
error[unknown-event]: instant `started` of grain `block` is bound to an unknown event `block_forgd`
  at specs/cardano/grains/block.dhall:33:16
    33 |         , of = "block_forgd"
       |                ^^^^^^^^^^^^^
  note: 6 more like it
  hint: is it in the package's lists? did you mean `block_forged`?
""",
    ),
    "an import of the environment": (
        (UNITS, SCHEMA, f"{SCHEMA}\n\nlet home = env:HOME as Text"),
        """\
error[dhall-import]: the import `env:HOME` reads the environment
  at specs/cardano/units.dhall:4:12
    4 | let home = env:HOME as Text
      |            ^^^^^^^^
  hint: imports are relative paths to files inside the workspace
""",
    ),
    "an import from the network": (
        (UNITS, SCHEMA, "let S = https://example.com/package.dhall"),
        """\
error[dhall-import]: the import `https://example.com/package.dhall` reads from the network
  at specs/cardano/units.dhall:2:9
    2 | let S = https://example.com/package.dhall
      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: imports are relative paths to files inside the workspace
""",
    ),
    "an import of a file of the machine": (
        (UNITS, SCHEMA, "let S = /etc/passwd as Text"),
        """\
error[dhall-import]: the import `/etc/passwd` is an absolute path
  at specs/cardano/units.dhall:2:9
    2 | let S = /etc/passwd as Text
      |         ^^^^^^^^^^^
  hint: imports are relative paths to files inside the workspace
""",
    ),
    "an import from outside the workspace": (
        (UNITS, SCHEMA, "let S = ../../../package.dhall"),
        """\
error[dhall-import]: the import `../../../package.dhall` leaves the workspace
  at specs/cardano/units.dhall:2:9
    2 | let S = ../../../package.dhall
      |         ^^^^^^^^^^^^^^^^^^^^^^
  hint: imports are relative paths to files inside the workspace
""",
    ),
    "imports in a circle": (
        (UNITS, SCHEMA, f"{SCHEMA}\n\nlet e = ./events.dhall"),
        """\
error[dhall-import]: imports form a cycle: specs/cardano/units.dhall -> specs/cardano/events.dhall -> \
specs/cardano/units.dhall
  at specs/cardano/events.dhall:8:9
    8 | let D = ./units.dhall
      |         ^^^^^^^^^^^^^
  hint: move what both files need into a third one

error[dhall-import]: imports form a cycle: specs/cardano/source.dhall -> specs/cardano/units.dhall -> \
specs/cardano/events.dhall -> specs/cardano/source.dhall
  at specs/cardano/events.dhall:10:15
    10 | let source = (./source.dhall).logs.name
       |               ^^^^^^^^^^^^^^
  hint: move what both files need into a third one
""",
    ),
    "relations in a circle": (
        (RELATIONS, "uses = [ openings.name, slotMarks.name ]", 'uses = [ openings.name, slotMarks.name, "timeline" ]'),
        """\
error[cycle]: `timeline` is made of itself: timeline -> timeline
  at specs/cardano/relations.dhall:274:16
    274 |       , name = "timeline"
        |                ^^^^^^^^^^
  hint: break the circle: one of these must not read the next
""",
    ),
    "two metrics of one id": (
        (FORGING, 'id = "cdfForgerTicked"', 'id = "cdfForgerForge"'),
        """\
error[duplicate-metric]: 2 metrics are called `cdfForgerForge`
  at specs/cardano/metrics/forging.dhall:64:18
    64 |           { id = "cdfForgerForge"
       |                  ^^^^^^^^^^^^^^^^
  note: again at specs/cardano/metrics/forging.dhall:80:18
  hint: rename all but one
""",
    ),
    "SQL that does not parse": (
        ("queries/cardano/observations.sql", "INNER JOIN roles ON", "INNER JOIN ON"),
        """\
error[sql]: the SQL of relation `observations` does not parse: Expected table name but got `ON`
  at queries/cardano/observations.sql:4:12
    4 | INNER JOIN ON roles.block = chain.block
      |            ^^
""",
    ),
    "a constant that no source has": (
        ("queries/cardano/openings.sql", "$slot_length", "$slot_lenth"),
        """\
error[unknown-constant]: the SQL of relation `openings` names a constant that no source of the package has: $slot_lenth
  at queries/cardano/openings.sql:5:72
    5 |     (greatest(first_recognised_ns, $system_start) - $system_start) // $slot_lenth AS slot
      |                                                                        ^^^^^^^^^^
  hint: did you mean `slot_length`?
""",
    ),
    "a file of SQL that is not there": (
        (RELATIONS, "queries/cardano/timeline.sql", "queries/cardano/time_line.sql"),
        """\
error[dhall-import]: the file `queries/cardano/time_line.sql` does not exist
  at specs/cardano/relations.dhall:275:15
    275 |       , sql = ../../queries/cardano/time_line.sql as Text
        |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: did you mean `timeline.sql`?
""",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_in_the_specs_is_told_with_its_place(tmp_path: Path, cache: Path, slip: str) -> None:
    edit, expected = SLIPS[slip]
    former_outputs(tmp_path / "out")
    place = workspace(tmp_path / "workspace", edit)
    done = build([PLAIN], tmp_path / "out", cache, within=place)
    assert (done.status, message(done, {})) == (1, expected)
    assert contents(tmp_path / "out") == FORMER


CHECKED: dict[str, tuple[Edit, str]] = {
    "a column that no table has": (
        ("queries/cardano/timeline.sql", "latest AS slot", "latst AS slot"),
        """\
error[sql]: the SQL of `timeline` fails: Binder Error: Referenced column "latst" not found in FROM clause!
  at queries/cardano/timeline.sql:4:23
    4 |     SELECT host, seq, latst AS slot, before
      |                       ^^^^^
  hint: did you mean `latest`?
""",
    ),
    "a relation that yields another column than it declares": (
        ("queries/cardano/openings.sql", ") // $slot_length AS slot", ") // $slot_length AS opening"),
        """\
error[relation-columns]: relation `openings` does not yield the columns that it declares
  at queries/cardano/openings.sql:5:87
    5 |     (greatest(first_recognised_ns, $system_start) - $system_start) // $slot_length AS opening
      |                                                                                       ^^^^^^^
  expected: host, slot
  found:    host, opening
""",
    ),
    "a number style that does not exist": (
        ("specs/cardano/reports.dhall", 'style = "typst-2026"', 'style = "typst2026"'),
        """\
error[unknown-style]: report `comparison` is in a number style that does not exist: `typst2026`
  at specs/cardano/reports.dhall:27:17
    27 |       , style = "typst2026"
       |                 ^^^^^^^^^^^
  hint: did you mean `typst-2026`?
""",
    ),
    "a chart template that does not exist": (
        ("specs/schema/report.dhall", 'template = "cdf"', 'template = "cdff"'),
        """\
error[unknown-chart-template]: report `comparison` has charts of a template that does not exist: `cdff`
  at specs/schema/report.dhall:158:65
    158 |     , cdf = \\(m : M.Metric.Type) -> { metric = m.id, template = "cdff", scale = "auto" } : Chart
        |                                                                 ^^^^^^
  hint: did you mean `cdf`?
""",
    ),
}


@pytest.mark.parametrize("slip", CHECKED)
def test_a_check_finds_what_no_type_tells(tmp_path: Path, cache: Path, slip: str) -> None:
    edit, expected = CHECKED[slip]
    within = workspace(tmp_path / "workspace", edit)
    done = assay("check", "--system", "cardano", "--cache", cache, within=within)
    assert (done.status, message(done, {})) == (1, expected)


def test_runaway_specs_end_at_the_budget_with_a_position(tmp_path: Path, cache: Path) -> None:
    doubled = 'Natural/fold 1000000000 Text (\\(text : Text) -> text ++ text) "x"'
    edit = (UNITS, SCHEMA, f'{SCHEMA}\n\nlet runaway = assert : {doubled} === ""')
    former_outputs(tmp_path / "out")
    done = build([PLAIN], tmp_path / "out", cache, within=workspace(tmp_path / "workspace", edit))
    assert (done.status, message(done, {})) == (
        1,
        """\
error[dhall-budget]: the evaluation makes more than 50,000,000 characters of text
  at specs/cardano/units.dhall:4:24
    4 | let runaway = assert : Natural/fold 1000000000 Text (\\(text : Text) -> text ++ text) "x" === ""
      |                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: the expression grows without end, or far beyond what a specification needs
""",
    )
    assert contents(tmp_path / "out") == FORMER


def test_a_check_of_good_specs_says_what_there_is(cache: Path) -> None:
    done = assay("check", "--cache", cache)
    assert (done.status, done.out, done.err) == (
        0,
        "antelope: 4 sources, 20 events, 17 relations, 15 grains, 91 metrics, 0 filters, 1 summary, 0 reports, "
        "18 series, 3 articles, 9 examples: no problem\n"
        "cardano: 1 source, 25 events, 15 relations, 7 grains, 61 metrics, 16 filters, 2 summaries, 1 report, "
        "1 history, 5 examples: no problem\n"
        "cometbft: 4 sources, 17 events, 7 relations, 6 grains, 28 metrics, 0 filters, 1 summary, 0 reports, "
        "10 series, 2 articles, 6 examples: no problem\n",
        "",
    )
