"""Texts of an author in the parts of a report: where they are printed, what they quote, what is wrong with them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT

RUNS = ("--run", "runs/1.0", "--run", "runs/1.1")
QUOTES = ("base", "average", "difference", "percent", "verdict")
TIMES = "".join(f'{{{{ wait(prints = "{name}", run = "1.1") }}}}; ' for name in QUOTES) + "see [Sizes](#sizes)."
ALL = """# Distributions

Of the whole part.

```
~~~
# no heading
```

## Working time

The tail is **shorter**.

# Sizes
Unchanged.
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts") / "starter"
    shutil.copytree(ROOT / "starter", folder)
    return folder


def build(workspace: Path, cache: Path, texts: dict[str, str], out: str = "out") -> CommandResult:
    shutil.rmtree(workspace / "texts", ignore_errors=True)
    (workspace / "texts").mkdir()
    for name, text in texts.items():
        (workspace / "texts" / name).write_text(text, encoding="utf-8")
    options = ("--texts", "texts", "--to", "md", "-o", out)
    return run_assay("--cache", cache, "build", "service/comparison", *RUNS, *options, cwd=workspace)


def test_texts_stand_in_their_places(workspace: Path, cache: Path) -> None:
    """Quotes print cells of the tables and lead to their samples; the build is verified with its texts."""
    result = build(workspace, cache, {"times.md": TIMES, "all.md": ALL})
    assert result.status == 0, result.err
    report = (workspace / "out" / "report.md").read_text(encoding="utf-8")
    parts = report[report.index('id="section-times"') :]
    words = [
        "4.90 ms; 4.32 ms; -0.58 ms; -12 %; cannot tell; see [Sizes](#section-sizes).",
        "| [Waiting time, ms](#metric-wait) | 4.90 | 4.32 | -0.58 | -12 |",
        'id="section-sizes"',
        "Unchanged.",
        "| [Size of the response",
        'id="section-distributions"',
        "Of the whole part.",
        "# no heading",
        "**Figure 1**",
        "The tail is **shorter**.",
        "**Figure 2**",
    ]
    places = [parts.find(text) for text in words]
    assert -1 not in places
    assert places == sorted(places)
    assert report.count("Cumulative distributions, drawn at") == 1
    stored = json.loads((workspace / "out" / "prose.json").read_text(encoding="utf-8"))
    assert sorted(stored) == [
        "texts/distributions.md", "texts/distributions/working-time.md", "texts/sizes.md", "texts/times.md",
    ]  # fmt: skip
    traced = run_assay("--cache", cache, "trace", "out", "Times/paragraph 1/4.32 ms", cwd=workspace)
    assert "120: average 4.32303" in traced.out
    shutil.rmtree(workspace / "texts")
    verified = run_assay("--cache", cache, "verify", "out", cwd=workspace)
    assert (verified.status, verified.out.endswith("files: all the same bytes\n")) == (0, True), verified


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        ({"time.md": "Text"}, "no part `time`\n  at texts/time.md:1\n"),
        ({"all.md": "# Times\n\n## Nothing\n\nText"}, "no block `nothing`\n  at texts/all.md:3\n"),
        ({"all.md": "# Times\nOne", "times.md": "Two"}, "another text for `times`\n  at texts/times.md:1\n"),
        ({"times.md": 'A {{ wait(prints = "avg") }}'}, "unknown cell `avg`\n  at texts/times.md:1:3\n"),
        ({"times.md": 'A {{ wait(prints = "percent", txt = "3 %") }}'}, "hint: did you mean `text`?"),
        ({"times.md": 'A {{ wait(prints = "least", also = "wrok") }}'}, "hint: did you mean `work`?"),
        (
            {"times.md": "A {{ verson() }}"},
            "`verson`, which is no metric, series or constant\n  at texts/times.md:1:3\n",
        ),
        ({"times.md": 'A {{ version(run = "1.2") }}'}, "`version` of an unknown run `1.2`\n"),
        ({"times.md": 'A {{ version(host = "a") }}'}, "constant `version` by more than its run\n"),
        (
            {"times.md": 'Falls by {{ wait(prints = "percent", text = "3 %") }}.'},
            "says 3 %, but its cells print 12 %\n",
        ),
        (
            {"times.md": 'It rises by {{ wait(prints = "percent", text = "12 %") }}'},
            "`rises`, but its cells print falls\n",
        ),
        (
            {"all.md": '# Times\n{{ work(prints = "base", host = "a") }}'},
            "by a cell of a table and a row of its grain\n",
        ),
        (
            {"all.md": '# Times\n\n{{ nothing(prints = "base") }}'},
            "`nothing`, which is no metric, series or constant\n  at texts/all.md:3:1\n",
        ),
        ({"times.md": '{{ wait(prints = "percent", run = "1.0") }}'}, "the percent of `wait` in the base\n"),
        ({"times.md": '{{ wait(prints = "average", run = "1.2") }}'}, "an unknown run `1.2`\n"),
        ({"times.md": "[there](#nowhere)"}, "an unknown part `nowhere`\n"),
        ({"times.txt": "Text"}, "the folder has no texts: texts\n"),
    ],
)
def test_texts_without_a_place_are_errors(workspace: Path, cache: Path, texts: dict[str, str], problem: str) -> None:
    result = build(workspace, cache, texts, "other")
    assert result.status != 0
    assert problem in result.err
    assert "expected:" in result.err or "hint:" in result.err


NUMBERS = """We expected 30 % of 64 GB on Ubuntu 22.04 in 2025, see Figure 3, `x 35` and [57 notes](https://example.org/57).
Version {{ version(run = "1.1") }} is not 1.35.6 of 3 November 2025; waiting time is {{ wait(prints = "average") }}.

1. It is **twice** as fast, or 2x.
2. Waiting time falls by {{ wait(prints = "percent", text = "12 %") }}, working time by at least
   {{ wait(also = "work", prints = "percent") }} in 2000 blocks.
"""
OWN = [("30 %", 1, 13), ("64 GB", 1, 21), ("twice", 4, 12), ("2x", 4, 32), ("2000", 6, 53)]


def test_numbers_without_quotes_are_the_authors(workspace: Path, cache: Path) -> None:
    """`check-prose` lists them with their places, a report marks them, and explains the mark once."""
    result = build(workspace, cache, {"times.md": NUMBERS, "sizes.md": "All 5."}, "marked")
    assert result.status == 0, result.err
    report = (workspace / "marked" / "report.md").read_text(encoding="utf-8")
    note = "† The author's own number: the report does not compute it."
    assert report.count(note) == 1
    assert "30 %† of 64 GB† on Ubuntu 22.04 in 2025, see Figure 3, `x 35` and" in report
    assert "Version 1.1 is not 1.35.6 of 3 November 2025; waiting time is 4.32 ms." in report
    assert "It is **twice†** as fast, or 2x†." in report
    assert "falls by 12 %, working time by at least 12 % – 28 % in 2000† blocks." in report
    assert "All 5†." in report
    checked = run_assay("--cache", cache, "check-prose", "texts", "marked", cwd=workspace)
    places = re.findall(r"\[prose-unquoted\]: `(.*)` is no quote.*\n  at texts/times.md:(\d+):(\d+)", checked.err)
    assert [(claim, int(line), int(column)) for claim, line, column in places] == OWN
    assert checked.out == "texts: 4 quotes agree with their cells; 6 numbers or comparisons quote no cell\n"
    strict = run_assay("--cache", cache, "check-prose", "texts", "marked", "--require-quotes", cwd=workspace)
    assert strict.status == 3
    traced = run_assay("--cache", cache, "trace", "marked", "Times/paragraph 1/1.1", cwd=workspace)
    assert "is a fact of run 1.1" in traced.err


def test_change_from_zero_is_said_without_a_percentage(tmp_path: Path, cache: Path) -> None:
    shutil.copytree(ROOT / "starter", tmp_path / "starter", ignore=shutil.ignore_patterns("runs"))
    workspace = tmp_path / "starter"
    for version, started in (("1.0", "01.000"), ("1.1", "01.004")):
        log = workspace / "runs" / version / "web-1" / "log.jsonl"
        log.parent.mkdir(parents=True)
        (log.parent.parent / "meta.json").write_text(json.dumps({"version": version}), encoding="utf-8")
        log.write_text("".join(
            f'{{"time":"2026-01-01T00:00:{second}Z","event":"{event}","data":{{"request":"r1","bytes":5}}}}\n'
            for second, event in (("01.000", "request.received"), (started, "work.started"), ("01.02", "response.sent"))
        ), encoding="utf-8")  # fmt: skip
    text = 'By {{ wait(prints = "percent") }}; {{ response_size(prints = "percent") }}.'
    assert build(workspace, cache, {"times.md": text}).status == 0
    assert "By +4.0 ms from 0; 0 %." in (workspace / "out" / "report.md").read_text(encoding="utf-8")


RULES = """        , observations = Some
            S.Observations::{
            , groups =
              [ S.observation.group "Tail" "" [ S.observation.slower (S.observation.percent "2" [ m.work ]) ]
              , S.observation.group "Heads" "Same: {name}" [ S.observation.percent "2" [ m.wait, m.size ] ]
              ]
            }
"""


def test_drafted_texts_build_and_agree(tmp_path: Path, cache: Path) -> None:
    """Each drafted sentence is in the part with its metric, and nothing is said twice."""
    workspace = tmp_path / "starter"
    shutil.copytree(ROOT / "starter", workspace)
    reports = workspace / "specs" / "service" / "reports.dhall"
    specs = reports.read_text(encoding="utf-8")
    reports.write_text(specs.replace("        , sections =\n", f"{RULES}        , sections =\n"), encoding="utf-8")

    def run(*words: object) -> CommandResult:
        return run_assay("--cache", cache, *words, cwd=workspace)

    command = ("build", "service/comparison", *RUNS, "--to", "md", "-o")
    assert run(*command, "out").status == 0
    drafted = run("draft", "out", "-o", "texts")
    assert drafted.out == "texts/times.md\ntexts/sizes.md\ntexts/observations.md\n"
    assert (workspace / "texts" / "times.md").read_text(encoding="utf-8") == (
        "<!-- Drafted from the tables by rules. Edit it, and build with --texts. -->\n\n**Tail**\n\n"
        '* Working time gets faster by {{ work(run = "1.1", prints = "percent", text = "28 %") }}.\n\n**Heads**\n\n'
        '* These runs cannot tell: Waiting time.{{ wait(run = "1.1", prints = "cannot tell") }}\n'
    )
    assert run(*command, "again", "--texts", "texts").status == 0
    checked = run("check-prose", "texts", "again")
    assert (checked.status, checked.err, checked.out) == (0, "", "texts: 3 quotes agree with their cells\n")
    before, after = ((workspace / name / "report.md").read_text(encoding="utf-8") for name in ("out", "again"))
    sentence = "Working time gets faster by "
    assert [before.count(sentence), after.count(sentence)] == [1, 1]
    place = after.index(sentence)
    assert after.rindex("## ", 0, place) == after.index('## <a id="section-times">')
    assert "no one has read this" not in after
    again = run("draft", "out", "-o", "texts")
    assert (again.status, "the folder has files" in again.err) == (2, True)
    (workspace / "texts" / "observations.md").unlink()
    assert run(*command, "again", "--texts", "texts").status == 0
    assert "no one has read this" in (workspace / "again" / "report.md").read_text(encoding="utf-8")
