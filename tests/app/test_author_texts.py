"""Texts of an author in the parts of a report: where they are printed, what they quote, what is wrong with them."""

from __future__ import annotations

import json
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
        (
            {"all.md": '# Times\n{{ work(prints = "base", host = "a") }}'},
            "by a cell of a table and a row of its grain\n",
        ),
        ({"all.md": '# Times\n\n{{ nothing(prints = "base") }}'}, "unknown metric `nothing`\n  at texts/all.md:3:1\n"),
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
