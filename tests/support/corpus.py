"""Write the logs of the corpus, in two versions with one planted change, and judge what is proposed for them.

`tests/corpus/README.md` describes the kinds, which are data.
"""

from __future__ import annotations

import json
import math
import random
import re
import shlex
import tomllib
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from string import Template
from typing import Any

from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT

FOLDER = ROOT / "tests/corpus"
RESULTS = FOLDER / "results.json"
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
VERSIONS = ("base", "new")
ROWS = 60
SPREAD = 0.2  # of the values around their mean
TIMES = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "min": 6e4, "h": 3.6e6}
CHANGED = ("worse", "better", "changed")
_HEX = {f"hex{size}": size for size in (4, 8, 16, 32, 40, 64)}
_EPOCHS = {"epoch_s": 1, "epoch_ms": 10**3, "epoch_us": 10**6, "epoch_ns": 10**9}


@dataclass(frozen=True, slots=True)
class Score:
    """What holds of the proposal for a kind."""

    number: bool  # a metric has the expected averages, name and direction
    change: bool  # its change is reported
    others: bool  # no other metric is called changed
    commands: bool  # init, check, query, build and gate succeed

    @property
    def is_full(self) -> bool:
        """Return whether everything holds."""
        return self.number and self.change and self.others and self.commands


def read_kinds() -> dict[str, Mapping[str, Any]]:
    """Return the kinds of logs by their name."""
    return {
        name: kind
        for path in sorted(FOLDER.glob("*.toml"))
        for name, kind in tomllib.loads(path.read_text(encoding="utf-8")).items()
    }


def write_logs(name: str, kind: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write the logs of a kind; return the folders of its versions."""
    for version in VERSIONS:
        path = folder / version / kind.get("file", "server.log")
        path.parent.mkdir(parents=True)
        path.write_text(_write_log(name, kind, version), encoding="utf-8")
    return [folder / version for version in VERSIONS]


def _write_log(name: str, kind: Mapping[str, Any], version: str) -> str:
    rng = random.Random(f"{name}/{version}")
    count = kind.get("rows", ROWS)
    spread = kind.get("spread", SPREAD)
    columns = {key: _list_values(value, count, version, spread, rng) for key, value in kind["vars"].items()}
    rows = [list(_write_row(kind, columns, index, rng)) for index in range(count)]
    body = kind.get("between", "\n").join(line for row in rows for line in row)
    head = Template(kind.get("head", "")).substitute(_name_instants(kind, START))
    return f"{head}{body}{kind.get('foot', '')}\n"


def _list_values(value: Any, count: int, version: str, spread: float, rng: random.Random) -> list[Any]:
    """Return the values of a variable: numbers around the mean of a version, words in turn, or a counter."""
    if isinstance(value, str):
        words = value.split()
        return [words[index % len(words)] for index in range(count)]
    if isinstance(value, dict):
        return [value["from"] + value["step"] * index for index in range(count)]
    mean, decimals = (value[VERSIONS.index(version)] if len(value) > 2 else value[0]), value[-1]
    assert round(mean, decimals) == mean, f"{mean} has more than {decimals} decimals"
    distances = [round(spread * mean * (2 * index + 1) / count, decimals) for index in range(count // 2)]
    numbers = [round(mean + sign * distance, decimals) for distance in distances for sign in (1, -1)]
    rng.shuffle(numbers)  # their mean is exact
    return numbers


def _write_row(
    kind: Mapping[str, Any], columns: Mapping[str, list[Any]], index: int, rng: random.Random
) -> Iterator[str]:
    values: dict[str, str] = {name: f"{rng.getrandbits(4 * size):0{size}x}" for name, size in _HEX.items()}
    values |= {f"{name}b": f"{rng.getrandbits(4 * size):0{size}x}" for name, size in _HEX.items()}
    values |= {"uuid": str(uuid.UUID(int=rng.getrandbits(128))), "i": str(index + 1)}
    for name, column in columns.items():
        values[name] = _write_value(column[index], kind["vars"][name], kind.get("style", {}).get(name, ""))
    for name, source in kind.get("totals", {}).items():
        total = sum(columns[source][: index + 1])
        values[name] = f"{total:.2f}"
        values[f"{name}_average"] = f"{total / (index + 1):.2f}"
    at = START + timedelta(seconds=kind.get("step", 1) * index, microseconds=rng.randrange(200_000))
    lines = [*kind["lines"]]
    extra = kind.get("extra", [])
    if extra and index % 5 == 0:
        lines.append(extra[index // 5 % len(extra)])
    for place, line in enumerate(lines):
        moment = at + timedelta(milliseconds=10 * place)
        for name, (source, unit) in kind.get("ends", {}).items():
            end = moment + timedelta(milliseconds=columns[source][index] * TIMES[unit])
            values |= {f"{name}_{key}": text for key, text in _name_instants(kind, end).items()}
        yield Template(line).substitute(values | _name_instants(kind, moment))


def _write_value(value: Any, declared: Any, style: str) -> str:
    if isinstance(value, str):
        return value
    decimals = 0 if isinstance(declared, dict) else declared[-1]
    text = f"{value:.{decimals}f}"
    match style:
        case "thousands":
            return f"{value:,.{decimals}f}"
        case "comma":
            return text.replace(".", ",")
        case "go":  # milliseconds
            return _write_go(value)
        case "sizes" | "spaced sizes":
            return _write_size(value, " " if style == "spaced sizes" else "")
        case "spaced rates":  # megabytes a second
            return f"{text} MB/s" if value * 1000 % 20 < 10 else f"{value * 1000:.{max(decimals - 3, 0)}f} kB/s"
    if style.startswith("scaled "):  # millions of what is behind it
        unit = style.removeprefix("scaled ")
        return f"{text}M{unit}" if value * 10 % 2 < 1 else f"{value / 1000:.{decimals + 3}f}G{unit}"
    return text


def _write_size(size: float, blank: str) -> str:
    """Return a number of bytes in one of three units; small ones have no blank before them."""
    forms = (f"{size / 1000:g}{blank}kB", f"{size / 1024:.12g}{blank}KiB", f"{size:g}B")
    return forms[int(size) % len(forms)]


def _write_go(milliseconds: float) -> str:
    """Return a duration as Go writes it."""
    if milliseconds < 1:
        return f"{milliseconds * 1000:g}µs"
    if milliseconds < 1000:
        return f"{milliseconds:g}ms"
    minutes, seconds = divmod(milliseconds / 1000, 60)
    return f"{int(minutes)}m{seconds:g}s" if minutes else f"{seconds:g}s"


def _name_instants(kind: Mapping[str, Any], moment: datetime) -> dict[str, str]:
    """Return an instant in the forms of a kind, by the names of these."""
    forms = {"t": "%Y-%m-%dT%H:%M:%S.%3fZ"} | dict(kind.get("time", {}))
    return {name: _write_instant(form, moment) for name, form in forms.items()}


def _write_instant(form: str, moment: datetime) -> str:
    microseconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    if form in _EPOCHS:
        return str(microseconds * _EPOCHS[form] // 10**6)
    if form == "epoch_f":
        return f"{microseconds / 10**6:.6f}"
    form = form.replace("%2f", f"{moment.microsecond // 10_000:02}")
    text = form.replace("%3f", f"{moment.microsecond // 1000:03}").replace("%9f", f"{moment.microsecond:06}000")
    return moment.strftime(text)


def judge_kind(name: str, kind: Mapping[str, Any], folder: Path) -> tuple[Score, list[str]]:
    """Propose a workspace for both versions of a kind; return its score, and what is wrong."""
    logs, place = write_logs(name, kind, folder / "logs"), folder / "service"
    created = run_assay("init", place, "--from", *logs)
    if created.status:
        return Score(False, False, False, False), [f"init: {created.err}"]
    expected = kind["expect"]
    excused = "nothing-gated" if expected.get("better") == "neither" else ""
    excused = "nothing-judged" if expected.get("judged") is False else excused
    problems = list(_list_failures(created, place, folder / "cache", excused))
    number, change, others = False, False, False
    compared = run_assay("--cache", folder / "cache", "compare", "runs/base", "runs/new", "--format", "json", cwd=place)
    if compared.status:
        return Score(False, False, False, False), [*problems, f"compare: {compared.err}"]
    changes = json.loads(compared.out)["changes"]
    matches = [item for item in changes if _has_means(item, kind) and re.search(expected["name"], item["metric"])]
    if matches:
        measured = next((item for item in matches if item["better"] == expected.get("better", "lower")), matches[0])
        number = measured["better"] == expected.get("better", "lower")
        change = measured["verdict"] in CHANGED or (
            expected.get("judged") is False and measured["verdict"] == "no interval"
        )
    allowed = re.compile(expected.get("also", "$^"))
    also = [item for item in changes if item["verdict"] in CHANGED and item not in matches
            and not allowed.search(item["metric"])]  # fmt: skip
    others = not also
    if not (number and change):
        texts = (f"{item['metric']} {item['base_value']} -> {item['value']} {item['unit']} {item['better']} "
                 f"{item['verdict']} n={item['size']}" for item in changes)  # fmt: skip
        problems.append("metrics: " + "; ".join(texts))
    problems += [f"also {item['metric']}: {item['verdict']} {item['percent']}" for item in also]
    return Score(number, change, others, not any(text.startswith("command ") for text in problems)), problems


def _has_means(change: Mapping[str, Any], kind: Mapping[str, Any]) -> bool:
    """Return whether a metric has the expected averages, in any unit of time."""
    expected = kind["expect"]
    base, new, *_ = expected.get("means") or kind["vars"][expected.get("var", "v")]
    factor = 1.0
    if expected.get("unit", "") in TIMES and change["unit"] in TIMES:
        factor = TIMES[expected["unit"]] / TIMES[change["unit"]]
    elif expected.get("unit", "") in TIMES or (expected.get("unit") and change["unit"] != expected["unit"]):
        return False
    values = (change["base_value"], base), (change["value"], new)
    return all(value is not None and math.isclose(value, mean * factor, rel_tol=1e-6) for value, mean in values)


def _list_failures(created: CommandResult, place: Path, cache: Path, excused: str) -> Iterator[str]:
    """Yield the commands that a new user tries next and that fail: the gate compares a run with itself.

    It may not decide for the `excused` reason.
    """
    query = next(line for line in created.out.splitlines() if line.startswith("  assay query"))
    itself = ("--run=a=runs/base", "--run=b=runs/base", "--to=md", "-o", "self", "--date=2026-03-02")
    commands = [("check",), shlex.split(query)[1:], ("build", *itself), ("gate", "self", "--once")]
    for command in commands:
        result = run_assay("--cache", cache, *command, cwd=place)
        if result.status and not (excused and f"error[{excused}]" in result.err):
            yield f"command {command[0]}: {result.err[:600]}"


def read_results() -> dict[str, dict[str, bool]]:
    """Return the recorded scores by kind."""
    data: dict[str, dict[str, bool]] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    return data


def write_results(scores: Mapping[str, Score]) -> None:
    """Record the scores of kinds."""
    lines = [f"{json.dumps(name)}: {json.dumps(asdict(score))}" for name, score in sorted(scores.items())]
    RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def describe_scores(scores: Mapping[str, Score]) -> str:
    """Return a sentence on how many kinds have what."""
    full = sum(score.is_full for score in scores.values())
    parts = {"number": "first number right", "change": "change reported", "others": "nothing else called changed",
             "commands": "no failed command"}  # fmt: skip
    counts = (f"{sum(asdict(score)[key] for score in scores.values())} {text}" for key, text in parts.items())
    return f"{full} of {len(scores)} kinds: {', '.join(counts)}"
