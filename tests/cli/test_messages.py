"""Test errors on a terminal, `--errors` of every command, and the line that ends a build."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest

from assay.cli.main import cli
from tests.compare_reference import CARDANO
from tests.support.cometbft import RUN
from tests.support.commands import run_assay
from tests.support.laboratory import ROOT
from tests.support.terminals import run_on_terminal

BASELINE, CANDIDATE = (CARDANO / name / "run" for name in ("baseline", "candidate"))


@pytest.mark.parametrize(("variable", "is_colored"), [("NO_COLOR", False), ("ANY", True)])
@pytest.mark.parametrize(
    ("words", "heading"),
    [(("explain", "nothing"), "error[unknown-metric]:"), (("list", "nothing"), "Error:")],
)
def test_errors_have_colors_on_a_terminal(
    words: tuple[str, ...], heading: str, variable: str, is_colored: bool
) -> None:
    status, output = run_on_terminal(words, "stderr", TERM="xterm", **{variable: "1"})
    assert status != 0
    assert ("\x1b[31m" in output) == is_colored
    assert heading in output


def list_commands(group: click.Group, *names: str) -> list[tuple[str, ...]]:
    commands = []
    for name, command in group.commands.items():
        commands.append((*names, name))
        if isinstance(command, click.Group):
            commands += list_commands(command, *names, name)
    return commands


cli.load_commands()


@pytest.mark.parametrize("command", list_commands(cli), ids=" ".join)
def test_errors_are_json_wherever_the_option_is(command: tuple[str, ...]) -> None:
    for words in (("--errors", "json", *command), (*command, "--errors", "json")):
        result = run_assay(*words, "--nothing")
        assert (result.status, result.out) == (2, "")
        assert json.loads(result.err)[0]["message"].startswith("No such option")


@pytest.mark.parametrize(
    ("words", "summary"),
    [
        (("cardano/comparison", "--run", BASELINE, "--run", CANDIDATE),
         r"19 worse \(3 by themselves\), 0 better, 7 same within 2 %, 13 cannot tell, 1 no interval; 5 more have the "
         r"values of another; worst: Process CPU usage \+31 %; "),
        (("cardano/comparison", "--run", BASELINE), "1 run: nothing is compared; "),
        (("cometbft/qa", "--run", f"a={RUN}", "--run", f"b={RUN}"),
         "0 worse, 0 better, 4 same within 2 %, 0 cannot tell, 6 no interval; "),
    ],
    ids=["comparison", "one-run", "article"],
)  # fmt: skip
def test_build_ends_with_what_came_of_it(
    cache: Path, tmp_path: Path, words: tuple[str | Path, ...], summary: str
) -> None:
    result = run_assay("--cache", cache, "build", *words, "--to", "md", "-o", tmp_path / "out", cwd=ROOT)
    assert (result.status, result.out) == (0, f"{tmp_path / 'out' / 'report.md'}\n")
    assert re.fullmatch(summary + r"\d+\.\d s", result.summary)
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    worst = re.findall(r"worst: (.*) [+-]", result.summary)
    assert worst == re.findall(r"^- \*\*\[(.*?)\].* worse\*\*$", report, re.MULTILINE)[: len(worst)]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("build", "cometbft/qa", "-o", "out", "--run", RUN.parent), f"did you mean `{RUN}`?"),
        (("query", "CentiCpu", "--run", BASELINE.parent), f"did you mean `{BASELINE}`?"),
        (("query", "tps_avg", "--run", ROOT / "golden" / "antelope"),
         f"did you mean `{ROOT / 'golden/antelope/harness'}` or `{ROOT / 'golden/antelope/rrd'}` or "
         f"`{ROOT / 'golden/antelope/upgrade/run'}`?"),
        (("inspect", "--system", "cardano", BASELINE.parent), f"did you mean `{BASELINE}`?"),
        (("inspect", BASELINE.parent), f"did you mean `{BASELINE}`?"),
        (("ingest", BASELINE.parent), f"did you mean `{BASELINE}`?"),
    ],
    ids=["article", "hosts", "sources", "inspect", "inspect-any-system", "ingest-any-system"],
)  # fmt: skip
def test_folder_above_runs_is_answered_with_their_names(
    cache: Path, tmp_path: Path, words: tuple[str | Path, ...], hint: str
) -> None:
    result = run_assay("--cache", cache, *words, cwd=tmp_path)
    assert result.status in (1, 2)
    assert result.err.splitlines()[-1] == f"  hint: {hint}"


def test_run_three_folders_below_is_named(cache: Path, tmp_path: Path) -> None:
    run = tmp_path / "logs" / "night" / "10.6" / "run"
    run.parent.mkdir(parents=True)
    run.symlink_to(BASELINE)
    result = run_assay("--cache", cache, "query", "CentiCpu", "--run", tmp_path / "logs", cwd=ROOT)
    assert result.err.splitlines()[-1] == f"  hint: did you mean `{run}`?"
