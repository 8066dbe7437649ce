"""Slips in an article's specs, as the checker tells them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import assay
from tests.support.workspaces import edited, workspace

ARTICLES = "specs/cometbft/articles.dhall"
SLIPS = {
    "a choice that is not in the article": (
        "choices = [ chosen, overload, fault, heaviest, rotation ]",
        "choices = [ chosen, overload, heaviest, rotation ]",
        "error[unknown-choice]: part `Fault` of article `qa` refers to an unknown choice `fault`\n",
    ),
    "two choices of a name": (
        '{ name = "overload"',
        '{ name = "chosen"',
        "error[duplicate-choice]: article `qa` has several choices `chosen`\n",
    ),
    "a choice of unknown rows": (
        ", grain = grains.rotation.name",
        ', grain = "rotations"',
        "error[unknown-grain]: choice `rotation` of article `qa` shows rows of an unknown grain `rotations`\n",
    ),
    "a choice by an unknown column": (
        ", first = c.number.name",
        ', first = "numbers"',
        "error[unknown-column]: choice `chosen` of article `qa` shows an unknown column `numbers` of grain "
        "`experiment`\n",
    ),
    "a choice by a metric of other rows": (
        ", most = m.validTxs.id",
        ", most = m.starts.id",
        "error[other-grain]: choice `chosen` of article `qa` shows metric `node_starts`, which is of another grain "
        "than its rows\n",
    ),
    "a choice by an unknown constant": (
        "A.pin c.number constant.fault",
        '(A.pin c.number constant.fault // { constant = "faulty" })',
        "error[unknown-constant]: choice `fault` of article `qa` uses an unknown constant `faulty`\n",
    ),
    "a time that is none": (
        ", begin = c.from.name",
        ", begin = c.rate.name",
        "error[choice-time]: choice `chosen` of article `qa` takes its time from a column that is no instant: `rate`\n",
    ),
    "half a time": (
        ", begin = c.from.name",
        ', begin = ""',
        "error[choice-time]: choice `chosen` of article `qa` has one end of its time only\n",
    ),
    "a rule of half": (
        "          , done = m.validTxs.id\n          , due = m.expected.id\n          , tolerance\n          , absent",
        "          , due = m.expected.id\n          , tolerance\n          , absent",
        "error[choice-rule]: choice `chosen` of article `qa` takes rows by what falls short, and does not say what of "
        "what\n",
    ),
    "a chosen cell that the choice does not know": (
        "keys = [ c.connections.name, c.rate.name ]\n          , pins = [ A.pin c.number constant.chosen ]",
        "keys = [ c.rate.name ]\n          , pins = [ A.pin c.number constant.chosen ]",
        "error[choice-keys]: part `Saturation point` of article `qa` shows a chosen cell, but its row and column are "
        "no keys of choice `chosen`\n",
    ),
    "diagonals of texts": (
        ", down = c.rate",
        ", down = c.experiment",
        "error[diagonals]: part `Saturation point` of article `qa` has diagonals, which multiply a column that is no "
        "number: `experiment_id`\n",
    ),
    "a figure of a choice without a time": (
        "      , begin = c.from.name\n      , end = c.to.name\n      , absent = \"no rotating",
        "      , absent = \"no rotating",
        "error[choice-time]: part `Rotating nodes` of article `qa` shows the time of choice `rotation`, which has "
        "none\n",
    ),
    "layers with a mean": (
        '[ A.stack "Mempool size" s.mempoolSize "job"\n      , A.meanOnly',
        '[ A.stack "Mempool size" s.mempoolSize "job" // { mean = True }\n      , A.meanOnly',
        "error[stacked-mean]: part `Metrics of the nodes` of article `qa` stacks the lines of series `mempool_size`, "
        "in which a mean has no place\n",
    ),
    "a grid without cases": (
        ", cases = constant.extensions.name",
        ', cases = ""',
        "error[grid-without-cases]: grid `Cases of vote extensions` in part `Vote extensions` of article `qa` has a "
        "row for each case, but the article does not say which constant tells the case of a run\n",
    ),
    "cases by an unknown constant": (
        ", cases = constant.extensions.name",
        ', cases = "vote_extension"',
        "error[unknown-constant]: article `qa` uses an unknown constant `vote_extension`\n",
    ),
    "a grid of rows that nobody chooses": (
        '"Cases of vote extensions"\n                heaviest',
        '"Cases of vote extensions"\n                rotation',
        "error[other-grain]: grid `Cases of vote extensions` in part `Vote extensions` of article `qa` has a scatter "
        "of rows that choice `rotation` does not choose\n",
    ),
    "a verdict on rows that nobody chooses": (
        "A.verdictOf fault",
        "A.verdictOf rotation",
        "error[other-grain]: part `Results` of article `qa` refers to choice `rotation`, which is of rows of another "
        "grain\n",
    ),
    "a verdict that is first in nothing": (
        ", first = c.number\n          , metrics = judged",
        ", first = c.node\n          , metrics = judged",
        "error[unknown-column]: part `Results` of article `qa` shows an unknown column `node` of grain `experiment`\n",
    ),
    "a verdict without what others choose": (
        "[ fault ]\n                (verdict",
        "[ chosen ]\n                (verdict",
        "error[choice-without]: part `Results` of article `qa` leaves out the row of choice `chosen`, which depends on "
        "other choices itself\n",
    ),
    "a choice without what another leaves out": (
        ", title = \"Heaviest experiment\"",
        ", without = [ \"rotation\" ], title = \"Heaviest experiment\"",
        "error[other-grain]: choice `heaviest` of article `qa` refers to choice `rotation`, which is of rows of "
        "another grain\n",
    ),
    "averages of a choice without a time": (
        "[ A.averagesDuring\n                chosen",
        "[ A.averagesDuring\n                rotation",
        "error[choice-time]: table `Average resident memory with and without the exporters' processes` of part "
        "`Metrics of the nodes` of article `qa` is over the time of choice `rotation`, which has none\n",
    ),
    "averages over a time that is none": (
        "[ A.averagesDuring\n                chosen",
        "[ A.averagesDuring\n                (chosen // { name = \"chose\" })",
        "error[unknown-choice]: table `Average resident memory with and without the exporters' processes` of part "
        "`Metrics of the nodes` of article `qa` refers to an unknown choice `chose`\n",
    ),
}  # fmt: skip


#: slips that do not touch each other, so that one check tells of them all
TOGETHER = (
    (
        "a choice that is not in the article", "a choice of unknown rows", "a choice by an unknown column",
        "a choice by a metric of other rows", "cases by an unknown constant", "layers with a mean",
        "diagonals of texts", "a verdict that is first in nothing", "a choice without what another leaves out",
    ),
    (
        "two choices of a name", "a choice by an unknown constant", "a time that is none", "a rule of half",
        "a chosen cell that the choice does not know", "a grid of rows that nobody chooses",
        "a verdict on rows that nobody chooses", "a verdict without what others choose",
        "averages over a time that is none",
    ),
    (
        "half a time", "a figure of a choice without a time", "a grid without cases",
        "averages of a choice without a time",
    ),
)  # fmt: skip


def test_every_slip_is_tried() -> None:
    assert sorted(name for names in TOGETHER for name in names) == sorted(SLIPS)


@pytest.mark.parametrize("names", TOGETHER, ids=[names[0] for names in TOGETHER])
def test_slips_in_an_article_are_told_with_their_places(tmp_path: Path, cache: Path, names: tuple[str, ...]) -> None:
    specs = workspace(tmp_path / "workspace")
    for name in names:
        edited(specs / ARTICLES, *SLIPS[name][:2])
    done = assay("check", "--system", "cometbft", "--cache", cache, within=specs)
    assert done.status == 1
    for name in names:
        message = SLIPS[name][2]
        assert message in done.err
        assert done.err.split(message, 1)[1].startswith("  at specs/cometbft/"), message


def test_hosts_that_are_files_need_a_glob_that_names_them(tmp_path: Path, cache: Path) -> None:
    specs = workspace(tmp_path / "workspace", ("specs/cometbft/source.dhall", '"logs/*.log"', '"logs/*/*-*.log"'))
    done = assay("check", "--system", "cometbft", "--cache", cache, within=specs)
    assert (done.status, done.err) == (
        1,
        """\
error[host-files]: the hosts of source `nodes` are files, so its glob must tell their names
  at specs/cometbft/source.dhall:76:16
    76 |       , name = "nodes"
       |                ^^^^^^^
  expected: one `*` in the last part of `hosts`, which stands for the name, and no `logs`
  found:    logs/*/*-*.log
""",
    )
