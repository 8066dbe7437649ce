"""A slip is told where it is, though the word in question stands in many places; what a package does not list is told
once, however many refer to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import assay
from tests.support.outcomes import message
from tests.support.workspaces import Edit, workspace

SLIPS: dict[str, tuple[str, Edit, str]] = {
    "a misspelt kind of a source": (
        "cometbft",
        ("specs/cometbft/source.dhall", 'kind = "csv"', 'kind = "cvs"'),
        """\
error[unknown-kind]: source `load` is of a kind that there is not: `cvs`
  at specs/cometbft/source.dhall:50:16
    50 |       , kind = "cvs"
       |                ^^^^^
  hint: did you mean `csv`?
""",
    ),
    "an event that the package does not list": (
        "cometbft",
        ("specs/cometbft/package.dhall", ", e.height\n", "\n"),
        """\
error[unknown-table]: relation `rotation` uses an unknown table `height`
  at specs/cometbft/relations.dhall:177:18
    177 |       , uses = [ events.height.name, windows.name ]
        |                  ^^^^^^^^^^^^^^^^^^
  note: 3 more like it: specs/cometbft/series.dhall:58:35, specs/cometbft/series.dhall:64:36, \
specs/cometbft/series.dhall:29:31
  hint: is it in the package's lists? did you mean `heights`?
""",
    ),
    "a source that the package does not list": (
        "cometbft",
        ("specs/cometbft/package.dhall", "source.samples, ", ""),
        """\
error[unknown-source]: event `height` is of an unknown source `samples`
  at specs/cometbft/events.dhall:53:22
    53 |           , source = source.samples.name
       |                      ^^^^^^^^^^^^^^^^^^^
  note: 8 more like it
  hint: is it in the package's lists? a `samples` is declared at specs/cometbft/source.dhall:63:16
""",
    ),
    "a grain that the package does not list": (
        "cometbft",
        ("specs/cometbft/package.dhall", " grains.node,", ""),
        """\
error[unknown-grain]: metric `node_blocks_committed` is of an unknown grain `logged_node`
  at specs/cometbft/metrics.dhall:28:35
    28 |         S.Metric::(m /\\ { grain = grains.node.name, accepted = False })
       |                                   ^^^^^^^^^^^^^^^^
  note: 10 more like it: specs/cometbft/articles.dhall:223:17, specs/cometbft/articles.dhall:237:17
  hint: is it in the package's lists? a `logged_node` is declared at specs/cometbft/grains.dhall:39:16
""",
    ),
    "a relation that the package does not list": (
        "cometbft",
        ("specs/cometbft/package.dhall", " r.nodeBlocks,", ""),
        """\
error[unknown-table]: relation `nodes_logged` uses an unknown table `node_blocks`
  at specs/cometbft/relations.dhall:137:11
    137 |         , nodeBlocks.name
        |           ^^^^^^^^^^^^^^^
  note: 1 more like it: specs/cometbft/grains.dhall:31:20
  hint: is it in the package's lists? a `node_blocks` is declared at specs/cometbft/relations.dhall:123:16
""",
    ),
    "a metric that the package does not list": (
        "cometbft",
        ("specs/cometbft/package.dhall", "      , m.latency\n", ""),
        """\
error[unknown-metric]: part `Latencies` of article `qa` shows a metric that its package does not list: `latency`
  at specs/cometbft/articles.dhall:109:9
    109 |         { title = "Latency"
        |         ^^^^^^^^^^^^^^^^^^^
  note: 2 more like it: specs/cometbft/examples.dhall:43:14
  hint: is it in the package's lists? a `latency` is declared at specs/cometbft/metrics.dhall:86:16
""",
    ),
    "a series that the package does not list": (
        "cometbft",
        ("specs/cometbft/package.dhall", "s.heights, ", ""),
        """\
error[unknown-series]: part `Fault` of article `qa` shows an unknown series `heights`
  at specs/cometbft/articles.dhall:200:69
    200 |           , timelines = A.during fault (plots # [ A.lines "Heights" s.heights "job" ])
        |                                                                     ^^^^^^^^^
  note: 1 more like it
  hint: is it in the package's lists? a `heights` is declared at specs/cometbft/series.dhall:57:28
""",
    ),
    "a column that a listing's grain lacks": (
        "cometbft",
        (
            "specs/cometbft/articles.dhall",
            "                [ c.number, c.connections, c.rate ]\n                [ m.least",
            '                [ c.number, c.connections, c.rate // { name = "rate_" } ]\n                [ m.least',
        ),
        """\
error[unknown-column]: part `Latencies` of article `qa` shows an unknown column `rate_` of grain `experiment`
  at specs/cometbft/articles.dhall:178:63
    178 |                 [ c.number, c.connections, c.rate // { name = "rate_" } ]
        |                                                               ^^^^^^^
  hint: did you mean `rate`?
""",
    ),
    "a metric of another grain in a listing": (
        "cometbft",
        ("specs/cometbft/articles.dhall", "[ m.validTxs, m.expected, m.throughput ]", "[ m.validTxs, m.blocks ]"),
        """\
error[other-grain]: part `Saturation point` of article `qa` shows metric `node_blocks_committed`, which is of another \
grain than its rows
  at specs/cometbft/articles.dhall:164:15
    164 |             [ A.listing
        |               ^^^^^^^^^
  expected: experiment
  found:    logged_node
""",
    ),
    "a series in another unit than its samples": (
        "cometbft",
        ("specs/cometbft/series.dhall", "unit = D.blockPerMinute", "unit = S.unit.byte"),
        """\
error[unit]: series `block_rate` reads values in a unit that does not convert to its own
  at specs/cometbft/series.dhall:66:23
    66 |         rate { name = "block_rate", event = e.height, unit = S.unit.byte, doc = "Blocks a minute th\
at each node sees" }
       |                       ^^^^^^^^^^^^
  expected: byte
  found:    (block) / second
""",
    ),
    "a column that samples are per, and the grain lacks": (
        "cardano",
        ("specs/cardano/metrics/machine.dhall", "per = span.host.name", 'per = "hots"'),
        """\
error[unknown-key]: metric `cdfSpanLensCpu` has samples per `hots`, which grain `span` lacks
  at specs/cardano/metrics/machine.dhall:62:19
    62 |           , per = "hots"
       |                   ^^^^^^
  note: 2 more like it
  hint: did you mean `host`?
""",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_told_once_and_where_it_is(tmp_path: Path, cache: Path, slip: str) -> None:
    system, edit, expected = SLIPS[slip]
    within = workspace(tmp_path / "workspace", edit)
    done = assay("check", "--system", system, "--cache", cache, within=within)
    assert (done.status, message(done, {})) == (1, expected)


#: what is changed of a report -> what is said of it, and which words are pointed at
OF_REPORTS = {
    "charts = [ R.cdf m.wait, R.cdf m.work ]": [
        ("charts = [ R.cdf m.wait, R.cdf m.work, R.cdf m.wait ]",
         "report `comparison` has 2 charts of `wait`", "m.wait, R.cdf m.work, R.cdf m.wait"),
        ('charts = [ R.cdf m.wait // { scale = "lgo" } ]',
         "report `comparison` has a chart of `wait` on an unknown scale", '"lgo"'),
    ],
    "metrics = times }": [
        ("metrics = times # times }", "report `comparison` has 2 rows of section `Times` for `wait`", '"Times"'),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("was", "made", "said", "word"), [(was, *made) for was, all_made in OF_REPORTS.items() for made in all_made]
)
def test_a_slip_of_a_report_is_told_there_and_not_where_its_metric_is_declared(
    tmp_path: Path, cache: Path, was: str, made: str, said: str, word: str
) -> None:
    assert assay("init", "shop", within=tmp_path).status == 0
    place = tmp_path / "shop" / "specs" / "service" / "reports.dhall"
    text = place.read_text(encoding="utf-8").replace(was, made)
    place.write_text(text, encoding="utf-8")
    done = assay("--errors", "json", "check", "--cache", cache, within=tmp_path / "shop")
    first = json.loads(done.err)[0]
    line = text[: text.index(word)].count("\n") + 1
    assert (first["message"], first["where"]["file"], first["where"]["line"]) == (
        said, "specs/service/reports.dhall", line
    )  # fmt: skip
