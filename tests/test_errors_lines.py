"""Slips in specs of text lines and lists of records, as the command line answers them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import assay
from tests.support.workspaces import Edit, workspace

SOURCE = "specs/antelope/harness/source.dhall"
EVENTS = "specs/antelope/harness/events.dhall"
RRD = "specs/antelope/rrd/package.dhall"

SLIPS: dict[str, tuple[Edit, str]] = {
    "a brace that is not closed": (
        (SOURCE, "{thread} {file}", "{thread {file}"),
        """\
error[pattern]: the `line` of source `nodes`: a brace without its counterpart
  at specs/antelope/harness/source.dhall:51:62
    51 |       , line = "{?{} {} {} {} {}: ?}{?{}|{} | ?}{level} {at} {thread {file} {function} ] {message...}"
       |                                                              ^
  hint: a brace itself is written `{{`
""",
    ),
    "a place named twice": (
        (EVENTS, "dropped incoming block #{number} id: {id}", "dropped incoming block #{number} id: {number}"),
        """\
error[pattern]: a pattern of event `dropped`: the place `number` is named twice
  at specs/antelope/harness/events.dhall:91:66
    91 |         , forms = [ form [ "dropped incoming block #{number} id: {number}" ] [ f.number, f.id ] ]
       |                                                                  ^^^^^^^^
  hint: rename one; `{}` has no name
""",
    ),
    "an optional part without its end": (
        (EVENTS, "{trx_net},{block_time}?}", "{trx_net},{block_time}"),
        """\
error[pattern]: a pattern of event `sent`: an optional part without its end
  at specs/antelope/harness/events.dhall:115:50
    115 |               [ "{id},{sent},{acknowledged},{ack}{?,{in_block},{trx_cpu},{trx_net},{block_time}" ]
        |                                                  ^^
  hint: it ends with `?}`
""",
    ),
    "two places that nothing parts": (
        (EVENTS, "switching forks from {} (", "switching forks from {}{name} ("),
        """\
error[pattern]: a pattern of event `forked`: two places follow each other, so nothing tells where one ends
  at specs/antelope/harness/events.dhall:101:41
    101 |               [ "switching forks from {}{name} (block number {from}) to {} (block number {to})"
        |                                         ^^^^^^
  hint: put the text between them that stands there in a line
""",
    ),
    "a field without a place": (
        (EVENTS, "block number {from})", "block number {form})"),
        """\
error[no-place]: field `from_number` of event `forked` is read from a place that its pattern does not have: `from`
  at specs/antelope/harness/events.dhall:38:23
    38 |       , from = E.at [ "from" ] (E.inUnit D.block (E.integer "from_number"))
       |                       ^^^^^^
  hint: did you mean `form`?
""",
    ),
    "a place of the line that an event has, too": (
        (EVENTS, "dropped incoming block #{number} id: {id}", "dropped incoming block #{number} id: {id} {at}"),
        """\
error[place-twice]: the place `at` is named in a pattern of event `dropped` and in the `line` of its source
  at specs/antelope/harness/events.dhall:91:28
    91 |         , forms = [ form [ "dropped incoming block #{number} id: {id} {at}" ] [ f.number, f.id ] ]
       |                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: rename one of them
""",
    ),
    "a time that is no place": (
        (SOURCE, 'time = [ "at" ]', 'time = [ "when" ]'),
        """\
error[no-place]: the time of source `nodes` is no place of its `line`
  at specs/antelope/harness/source.dhall:52:18
    52 |       , time = [ "when" ]
       |                  ^^^^^^
  expected: one place, in no optional part
  found:    when
  hint: there are `at`, `file`, `function`, `level`, `message`, `thread`
""",
    ),
    "a time of two places, the first of which is a word of the language": (
        (SOURCE, 'time = [ "at" ]', 'time = [ "day", "time" ]'),
        """\
error[no-place]: the time of source `nodes` is no place of its `line`
  at specs/antelope/harness/source.dhall:52:18
    52 |       , time = [ "day", "time" ]
       |                  ^^^^^
  expected: one place, in no optional part
  found:    day, time
  hint: there are `at`, `file`, `function`, `level`, `message`, `thread`
""",
    ),
    "a pattern that does not tell the time": (
        (EVENTS, "{id},{sent},{ack", "{id},{},{ack"),
        """\
error[no-place]: a pattern of event `sent` does not tell the time
  at specs/antelope/harness/events.dhall:115:17
    115 |               [ "{id},{},{acknowledged},{ack}{?,{in_block},{trx_cpu},{trx_net},{block_time}?}" ]
        |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  expected: the place {sent}, in no optional part
  found:    id, acknowledged, ack, in_block, trx_cpu, trx_net, block_time
""",
    ),
    "a zone with summer time": (
        (SOURCE, 'zone = "UTC"', 'zone = "Europe/Berlin"'),
        """\
error[zone]: source `nodes` is in a zone that there is not: `Europe/Berlin`
  at specs/antelope/harness/source.dhall:54:16
    54 |       , zone = "Europe/Berlin"
       |                ^^^^^^^^^^^^^^^
  expected: UTC, or an offset such as +02:00
  hint: the local time of a place with summer time does not tell an instant
""",
    ),
    "a form of instants that there is not": (
        (RRD, 'timeForm = "s"', 'timeForm = "sec"'),
        """\
error[time-form]: instants of source `records`: `sec` is no form of instants
  at specs/antelope/rrd/package.dhall:21:20
    21 |       , timeForm = "sec"
       |                    ^^^^^
  expected: nothing for ISO 8601; s, ms, us or ns since 1970; or places such as %Y-%m-%d %H:%M:%S
""",
    ),
    "a member that a kind does not read": (
        ("specs/cometbft/source.dhall", ', logs = [ "prom', ', zone = "UTC"\n      , logs = [ "prom'),
        """\
error[source-member]: source `samples` has `zone`, which it does not read
  at specs/cometbft/source.dhall:63:16
    63 |       , name = "samples"
       |                ^^^^^^^^^
  expected: that its records have instants (`time`)
  found:    kind samples
""",
    ),
    "lines of JSON without a time": (
        ("specs/cardano/source.dhall", 'time = [ "at" ]', "time = [] : List Text"),
        """\
error[no-time]: source `workbench_logs` does not say where its lines tell the time
  at specs/cardano/source.dhall:103:16
    103 |       , name = "workbench_logs"
        |                ^^^^^^^^^^^^^^^^
  expected: the path of a line's instant, such as `time = [ "at" ]`
  hint: records of lists, tables and blocks may have none; the lines of a log have
""",
    ),
    "an event of a list with a name": (
        (RRD, "{ names = [] : List E.Name", '{ names = [ { generation = "x", name = "y" } ]'),
        """\
error[event-of-table]: event `machine` is a record of a list: it has one form, without names
  at specs/antelope/rrd/package.dhall:31:18
    31 |         { name = "machine"
       |                  ^^^^^^^^^
""",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_says_where_it_is(slip: str, tmp_path: Path) -> None:
    edit, message = SLIPS[slip]
    place = workspace(tmp_path, edit)
    system = edit[0].split("/")[1]
    done = assay("check", "--system", system, "--cache", tmp_path / "cache", within=place)
    assert (done.status, done.out, done.err) == (1, "", message)
