"""Test help: every command has a group, a valid example and an entry in the reference."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from pathlib import Path
from types import ModuleType

import pytest
from click.shell_completion import BashComplete

from assay.app.session.session import Session
from assay.cli.commands import COMMANDS as ENTRIES
from assay.cli.commands import SECTIONS
from assay.cli.completion import VARIABLE
from assay.cli.main import cli
from assay.lang.checked_package import CheckedPackage
from tests.support.commands import run_assay, run_assay_process
from tests.support.laboratory import ROOT
from tests.support.workspaces import edit_file

COMMANDS = cli.load_commands()


def test_every_command_is_in_one_group_and_has_an_example() -> None:
    """Groups name no unknown command."""
    summaries = {name: command.get_short_help_str(limit=1000) for name, command in COMMANDS.items()}
    assert summaries == {name: entry.summary for name, entry in ENTRIES.items()}
    assert [name for name, entry in ENTRIES.items() if not entry.examples] == []


@pytest.mark.parametrize(
    ("name", "example"), [(name, text) for name, entry in ENTRIES.items() for text in entry.examples]
)
def test_examples_are_valid_commands(name: str, example: str) -> None:
    """They parse, and the help prints them unchanged."""
    program, command, *arguments = shlex.split(example.partition(" > ")[0])
    assert (program, command) == ("assay", name)
    parent = cli.make_context("assay", [command], resilient_parsing=True)
    parent.obj = {"cache": None, "errors": "text"}
    COMMANDS[name].make_context(name, arguments, parent=parent)
    assert f"  {example}\n" in run_assay(name, "--help").out


@pytest.mark.parametrize("width", ["50", "80", "200"])
def test_help_cuts_no_summary(monkeypatch: pytest.MonkeyPatch, width: str) -> None:
    monkeypatch.setenv("COLUMNS", width)
    help_text = " ".join(run_assay("--help").out.partition("Author:")[2].split())
    for name, command in COMMANDS.items():
        first = " ".join((command.help or "").split("\n\n")[0].split())
        assert f"{name} {first.partition('. ')[0].removesuffix('.')}." in help_text


def test_former_name_of_a_command_prints_a_notice(tmp_path: Path) -> None:
    """It works, but neither help nor completion has it."""
    states = (ROOT / "starter", ROOT / "starter")
    new, old = (run_assay("--cache", tmp_path, name, *states) for name in ("spec-diff", "diff"))
    assert (old.status, old.out) == (new.status, new.out) == (0, new.out)
    assert old.err == "`assay diff` is now `assay spec-diff`; the old name goes with version 0.4\n"
    assert new.err == ""
    assert run_assay("diff", "--help").out == run_assay("spec-diff", "--help").out
    assert "  diff" not in run_assay("--help").out


def test_help_lists_commands_by_group() -> None:
    """Commands are listed below the heading of their group."""
    lines = [
        line for line in run_assay("--help").out.splitlines() if not line.startswith("   ")
    ]  # a summary has one line
    for heading, names in SECTIONS.items():
        start = lines.index(f"{heading}:")
        assert [line.split()[0] for line in lines[start + 1 : start + 1 + len(names)]] == list(names)


def _load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "tools" / "reference.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["reference"] = module
    spec.loader.exec_module(module)
    return module


def test_reference_page_equals_help_of_commands() -> None:
    """`python tools/reference.py write` makes it."""
    assert (ROOT / "docs" / "reference.md").read_text(encoding="utf-8") == _load_tool().format_reference()


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("assay query cdfForgerLead", "plain,cdfForgerLead"),
        ("assay build cardano/comp", "plain,cardano/comparison"),
        ("assay build cardano/comparison --filter slot-l", "plain,slot-leq="),
        ("assay ver", "plain,verify"),
        ("assay explain cdfForgerT", "plain,cdfForgerTicked"),
        ("assay explain cpu_idl", "plain,cpu_idle"),
        ("assay explain cpu_usage --report antelope/up", "plain,antelope/upgrade"),
        ("assay explain --system cometbft block_i", "plain,block_interval"),
        ("assay explain --system nowhere block_i", ""),
        ("assay lineage cdfForgerT", "plain,cdfForgerTicked"),
        ("assay lineage cpu_usage_", "plain,cpu_usage_series"),
        ("assay lineage cardano/comp", "plain,cardano/comparison"),
        ("assay lineage cardano/comparison --system comet", "plain,cometbft"),
        ("assay watch antelope/up", "plain,antelope/upgrade"),
        ("assay trace gol", "dir,gol"),
        ("assay verify gol", "dir,gol"),
        ("assay regenerate x --report cometbft/q", "plain,cometbft/qa"),
        ("assay build cardano/comparison --summary ", "plain,published plain,mean-of-hosts"),
        ("assay build cardano/comparison --style thr", "plain,three-digits"),
        ("assay build antelope/harness --filter ", ""),
        ("assay query latency_avg --system comet", "plain,cometbft"),
        ("assay query latency_avg --summary exp", "plain,experiments"),
        ("assay list metrics --system car", "plain,cardano"),
        ("assay test --system ant", "plain,antelope"),
        ("assay schema --system ant", "plain,antelope"),
    ],
)
def test_completion_offers_names(typed: str, expected: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for name, value in get_completion_variables(typed, cache).items():
        monkeypatch.setenv(name, value)
    assert BashComplete(cli, {}, "assay", VARIABLE).complete().split() == expected.split()


def test_completion_works_in_a_shell_process(cache: Path) -> None:
    """The process gets the variables that the bash script sets."""
    result = run_assay_process(
        environment={VARIABLE: "bash_complete", **get_completion_variables("assay query cdfForgerLead", cache)}
    )
    assert (result.out.split(), result.err) == (["plain,cdfForgerLead"], "")


def test_completion_of_unchanged_specs_decodes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def complete() -> list[str]:
        return BashComplete(cli, {}, "assay", VARIABLE).complete().split()

    def refuse(_session: Session, system: str) -> CheckedPackage:
        raise AssertionError(system)

    assert run_assay("init", tmp_path / "shop").status == 0
    monkeypatch.chdir(tmp_path / "shop")
    for name, value in get_completion_variables("assay query w", tmp_path / "cache").items():
        monkeypatch.setenv(name, value)
    assert complete() == ["plain,wait", "plain,work"]
    with monkeypatch.context() as patch:
        patch.setattr(Session, "load_package", refuse)
        assert complete() == ["plain,wait", "plain,work"]
    edit_file(tmp_path / "shop" / "specs" / "service" / "metrics.dhall", 'id = "wait"', 'id = "waiting"')
    assert complete() == ["plain,waiting", "plain,work"]


def get_completion_variables(typed: str, cache: Path) -> dict[str, str]:
    """Return the variables that a shell sets for the line to complete."""
    count = len(typed.split()) - (not typed.endswith(" "))
    return {"COMP_WORDS": typed, "COMP_CWORD": str(count), "XDG_CACHE_HOME": str(cache)}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_is_printed_for_a_shell(shell: str) -> None:
    """The script names the variable that requests completions."""
    result = run_assay("completion", shell)
    assert (result.status, "_ASSAY_COMPLETE" in result.out) == (0, True)
    assert str(Path.cwd()) not in result.out


@pytest.mark.parametrize("words", [(), ("runs",), ("results",)])
def test_group_without_a_command_prints_its_help(words: tuple[str, ...]) -> None:
    assert run_assay(*words) == run_assay(*words, "--help")
    assert run_assay(*words).status == 0
