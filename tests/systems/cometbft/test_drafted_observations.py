"""Test what is drafted of testnets: bounds and levels of nodes, trends over cases, likeness to the baseline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT
from tests.support.loads import Experiment, add_samples, create_load_run

SECOND = 10**9
NODES = 5


def create_run(folder: Path, ident: str, rounds: int, latency: float, **facts: object) -> Path:
    """Create a run of five nodes. One has a round more than the others, and one of five machines a load of 8."""
    run = create_load_run(folder / ident, Experiment("a", latency=int(latency * SECOND)), ident=ident, **facts)
    times = range(0, 60, 5)
    names = [f"node{number}" for number in range(NODES)]

    def sample(values: list[float]) -> dict[str, list[tuple[int, str]]]:
        return {name: [(second, str(value)) for second in times] for name, value in zip(names, values, strict=True)}

    return add_samples(
        run,
        {
            "cometbft_p2p_peers": sample([20, 21, 25, 30, 70]),
            "cometbft_consensus_rounds": sample([rounds, rounds, rounds, rounds, rounds + 1]),
            "node_load1": sample([0.5, 1.5, 2.5, 4.5, 8.0]),
        },
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build the report on a testnet with a baseline, and on three cases of vote extensions."""
    folder = tmp_path_factory.mktemp("testnets")
    runs = {
        "200-node:0.37": create_run(folder, "0.37", 0, 1.0),
        "200-node:0.38": create_run(folder, "0.38", 0, 1.04),
        **{
            f"extensions:{case}": create_run(folder, case, rounds, 1.0 + rounds, vote_extensions=case)
            for case, rounds in (("none", 0), ("2k", 1), ("32k", 5))
        },
    }
    options = [text for name, run in runs.items() for text in ("--run", f"{name}={run}")]
    command = ("build", "cometbft/testnets", *options, "-o", folder / "out", "--to", "md", "--cache", cache)
    assert run_assay(*command, cwd=ROOT).status == 0
    return folder / "out"


def check(built: Path, cache: Path, prose: Path, text: str) -> CommandResult:
    """Check a text on the build."""
    prose.write_text(text, encoding="utf-8")
    return run_assay("check-prose", prose, built, "--cache", cache, cwd=ROOT)


def test_sentences_are_on_bounds_trends_and_likeness(built: Path) -> None:
    texts = json.loads((built / "document.json").read_text(encoding="utf-8"))["observations"]["text"]
    assert [text for text in texts if text.endswith(".")][1:] == [
        "The average latency of an experiment is 1.00 s in 0.37 of 200-node and 1.04 s in 0.38 of 200-node.",
        "The greatest latency of an experiment is 1.00 s in 0.37 of 200-node and 1.04 s in 0.38 of 200-node.",
        "The load average is below 5 on most machines: 0.500 – 4.50 in 200-node.",
        "Each node has at least 20 peers in 200-node.",
        "The highest round is below 2 on all nodes: 0 – 1 in 200-node.",
        "Transactions, Throughput, Average latency and Maximum latency: "
        "no experiment of 0.38 differs from 0.37 by more than 4.0 %.",
        "Latency in the run gets slower with the size of vote extensions, from 1.00 s to 6.00 s.",
        "Highest round rises with the size of vote extensions, from 0.200 to 5.20.",
        "“200 nodes: every configuration” and “200 nodes: chosen experiment” pass in 0.38.",
        "“Rotating nodes” is not decided: there is no run of group rotating.",
    ]


EDITS = {
    "nothing": ("", "", []),
    "another direction": ("round rises", "round falls", ["the sentence says `falls`, but its cells print rises"]),
    "all instead of most": (
        "on most machines", "on all machines", ["the sentence says that all values are below 5, but 4 of 5 are"],
    ),
    "a bound that holds on few rows": (
        'below = "5", prints = "row", text = "0.500 – 4.50"', 'below = "1", prints = "row"',
        ["the sentence says that most values are below 1, but 1 of 5 are"],
    ),
    "a smaller difference": (
        'text = "4.0 %"', 'text = "1.0 %"', ["the sentence says 1.0 %, but its cells print 4.0 %"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_edited_sentence_is_compared_with_its_rows(name: str, built: Path, cache: Path, tmp_path: Path) -> None:
    old, new, messages = EDITS[name]
    draft = run_assay("draft", built, "--cache", cache, cwd=ROOT).out
    assert old in draft
    result = check(built, cache, tmp_path / "observations.md", draft.replace(old, new, 1))
    problems = [line.partition(": ")[2] for line in result.err.splitlines() if line.startswith("error")]
    assert (result.status, problems) == (3 if messages else 0, messages)


def test_bound_that_is_no_number_is_an_error(built: Path, cache: Path, tmp_path: Path) -> None:
    result = check(built, cache, tmp_path / "observations.md", '{{ load_highest(below = "five", prints = "row") }}\n')
    assert (result.status, result.err.splitlines()[0]) == (1, "error[prose]: the bound of a quote is no number")
