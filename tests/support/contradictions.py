"""Find where a sentence of a report contradicts the cells of its tables, from `document.json` alone.

Nothing here is of the product: sentences are taken apart by their words, and each part is looked up in the tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.support.documents import list_sections

RISES, FALLS = ("rises", "rise"), ("falls", "fall")
CERTAIN = ("worse", "better", "changed")
BY_ITSELF = ", by itself"
CAUSE = re.compile(
    r"(?P<total>(?:[^.]|\.\d)+?) (?P<sign>[+-])(?P<size>[\d.]+) (?P<unit>\S+) \((?P<change>[^)]+)\): "
    r"(?P<none>no single step explains it; )?(?P<share>-?\d+) % of it is (?P<step>(?:[^.(]|\.\d)+?)"
    r"(?: \((?P<part>[^)]+)\)|, in rows that have all steps)\."
)
"""A sentence on the step that a change comes from."""
FOCUS = re.compile(
    r"(?P<total>(?:[^.]|\.\d)+?)(?: over all samples)? [+-][\d.]+(?: \S+)? \((?P<change>[^)]+)\): "
    r"(?P<parts>-?\d+ % of it is (?:on|in|mix:|from|until) .+)\."
)
"""A sentence on the host, value, mix or time that a change comes from."""
SEGMENT = re.compile(
    r"(?P<share>-?\d+) % of it is in (?P<column>\w+) (?P<value>.+) \((?P<percent>\S+) %, (?P<verdict>\w+);"
)
_PREFIXES = {"": 1.0, "n": 1e-9, "µ": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_PREFIXES |= {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}
CANNOT_TELL = "These runs cannot tell: "


@dataclass(frozen=True)
class Row:
    """The cells of a metric in a run: texts by what they print, its name and unit."""

    name: str
    unit: str
    cells: Mapping[str, str]

    @property
    def verdict(self) -> str:
        """The verdict as a word, without its mark."""
        return self.cells.get("verdict", "").lstrip("▲▼ ").removesuffix(BY_ITSELF)


Rows = Mapping[tuple[str, str], Row]
"""Metric and run -> its cells; the base has an average only."""


def read_rows(document: Mapping[str, Any]) -> Rows:
    """Read the tables of metrics."""
    rows: dict[tuple[str, str], Row] = {}
    for section in list_sections(document):
        for texts, metric in zip(section["rows"], section["metrics"], strict=True):
            if not metric:
                continue
            name, _, unit = texts[0].rpartition(", ") if ", " in texts[0] else (texts[0], "", "")
            cells: dict[str, dict[str, str]] = {}
            for text, column in zip(texts[1:], section["printed"], strict=True):
                cells.setdefault(column["runs"][-1], {})[column["prints"]] = text
            for run, texts_of_run in cells.items():
                rows.setdefault((metric, run), Row(name, unit, texts_of_run))
    _add_rows_of_pages(document, rows)
    return rows


def _add_rows_of_pages(document: Mapping[str, Any], rows: dict[tuple[str, str], Row]) -> None:
    """Add the rows of first pages on metrics that no table has: the page is the table beside its sentences."""
    for answer in document.get("answers", ()):
        for item in (*(row for group in answer["groups"] for row in group["rows"]), *answer["conditions"]):
            if (item["metric"], answer["run_id"]) not in rows:
                (base, unit), (value, _) = (item[name].partition(" ")[::2] for name in ("base", "value"))
                ending = BY_ITSELF if item.get("is_by_itself") else ""
                cells = {
                    "average": value,
                    "percent": item["percent"].removesuffix(" %"),
                    "interval": item["interval"] or "–",
                    "verdict": f"{item['arrow']} {item['verdict']}{ending}".strip(),
                }
                rows[item["metric"], answer["run_id"]] = Row(item["label"], unit, cells)
                rows.setdefault((item["metric"], _find_base(rows)), Row(item["label"], unit, {"average": base}))


def find_cell(document: Mapping[str, Any], source: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the text and the unit of the cell of another table that prints a value of a row; None without one."""
    for table in (table for part in document["parts"] for table in part["tables"] if "leads" in table):
        for lead in table["leads"]:
            if source in lead["of"]:
                units = table.get("column_units", ())
                unit = units[lead["column"]] if units else (table.get("row_units") or [""])[lead["row"]]
                return table["rows"][lead["row"]][lead["column"]], unit
    return None


def find_contradictions(document: Mapping[str, Any]) -> list[str]:
    """Return what sentences say that the tables do not print."""
    rows = read_rows(document)
    # In the style of 2023, tables print differences of rounded averages; the first page has those of the averages.
    has_exact_changes = "differences" not in document
    contradictions = [
        text for answer in document.get("answers", ()) for text in _check_answer(answer, rows, has_exact_changes)
    ]
    if document.get("observations"):
        contradictions += _check_observations(document, document["observations"], rows)
    return contradictions


def _check_answer(answer: Mapping[str, Any], rows: Rows, has_exact_changes: bool) -> Iterator[str]:
    run, base = _find_run(answer, rows), _find_base(rows)
    listed = [row for group in answer["groups"] for row in group["rows"]] + answer["conditions"]
    for item in listed:
        row, base_row = rows[item["metric"], run], rows[item["metric"], base]
        expected = (row.cells["interval"], row.verdict, row.cells["verdict"].endswith(BY_ITSELF))
        printed = (item["interval"] or "–", item["verdict"], item.get("is_by_itself", False))
        if printed != expected or (item["label"], item["arrow"]) != (row.name, _get_mark(row)):
            yield f"page 1, {item['label']}: {printed} instead of {expected}"
        if has_exact_changes and not _is_same_number(item["percent"].removesuffix(" %"), row.cells["percent"]):
            yield f"page 1, {item['label']}: {item['percent']} instead of {row.cells['percent']}"
        for text, cell in ((item["base"], base_row), (item["value"], row)):
            yield from _check_value(f"page 1, {item['label']}", text, cell)
    for change in answer["key_changes"]:
        yield from _check_key_change(change, rows[change["metric"], run], rows[change["metric"], base])
    for text in answer.get("causes", ()):
        if match := FOCUS.fullmatch(text):
            yield from _check_focus(match, rows, run, base)
        elif match := CAUSE.fullmatch(text):
            yield from _check_cause(match, rows, run, base)
        else:
            yield f"page 1: no cause in {text}"
    yield from _check_headline(answer, [row for (_, name), row in rows.items() if name == run], run, base)


def _check_key_change(change: Mapping[str, Any], row: Row, base: Row) -> Iterator[str]:
    where = f"key change {change['label']}"
    if (change["label"], change["verdict"], change["arrow"]) != (row.name, row.verdict, _get_mark(row)):
        yield f"{where}: {change['verdict']} instead of {row.cells['verdict']}"
    match = re.match(
        r"(?P<base>\S+)(?: \S+)? → (?P<value>\S+)(?: (?P<unit>[^,]+))?, (?P<percent>\S+) %", change["text"]
    )
    if match is None:
        yield f"{where}: no numbers in {change['text']}"
        return
    unit = f" {match['unit']}" if match["unit"] else ""
    yield from _check_value(where, match["base"] + unit, base)
    yield from _check_value(where, match["value"] + unit, row)
    if not _is_same_number(match["percent"], row.cells["percent"]):
        yield f"{where}: {match['percent']} % instead of {row.cells['percent']}"


def _check_cause(match: re.Match[str], rows: Rows, run: str, base: str) -> Iterator[str]:
    """Yield what a sentence on a cause says that the cells of the total and of the step do not."""
    by_name = {row.name: (rows[metric, base], row) for (metric, name), row in rows.items() if name == run}
    total = match["total"].removeprefix(" ")
    differences = []
    for name, text in ((total, match["change"]), (match["step"], match["part"])):
        where = f"cause {name}"
        if name not in by_name:
            yield f"{where}: no table has it"
            continue
        if text is None:
            continue
        base_row, row = by_name[name]
        values, _, verdict = text.partition(", ")
        before, _, after = values.partition(" → ")
        number, _, unit = after.partition(" ")
        if verdict != row.cells["verdict"].lstrip("▲▼ "):
            yield f"{where}: {verdict} instead of {row.cells['verdict']}"
        yield from _check_value(where, f"{before} {unit}", base_row)
        yield from _check_value(where, f"{number} {unit}", row)
        differences.append((_find_value(number, unit)[0] - _find_value(before, unit)[0], _find_value(number, unit)[1]))
    if not differences:
        return
    (change, step), *parts = differences
    stated = _find_value(match["size"], match["unit"])
    if (match["sign"] == "+") != (change > 0) or abs(stated[0] - abs(change)) > 1.001 * max(stated[1], 2 * step):
        yield f"cause {total}: {match['sign']}{match['size']} {match['unit']} instead of {change}"
    for part, digit in parts:
        share, reach = 100 * part / change, 100 * (digit + 2 * step) / abs(change)
        if abs(int(match["share"]) - share) > reach + 1 or (int(match["share"]) < 50) != bool(match["none"]):
            yield f"cause {match['step']}: {match['share']} % instead of {share:.0f}"


def _check_focus(match: re.Match[str], rows: Rows, run: str, base: str) -> Iterator[str]:
    """Yield what a sentence on where a change comes from says that the cells of metric and segments do not."""
    by_name = {row.name: (metric, rows[metric, base], row) for (metric, name), row in rows.items() if name == run}
    if match["total"] not in by_name:
        yield f"focus {match['total']}: no table has it"
        return
    metric, base_row, row = by_name[match["total"]]
    values, _, verdict = match["change"].partition(", ")
    if verdict:  # else, tables have the averages at equal shares
        before, _, after = values.partition(" → ")
        number, _, unit = after.partition(" ")
        if verdict != row.cells["verdict"].lstrip("▲▼ "):
            yield f"focus {match['total']}: {verdict} instead of {row.cells['verdict']}"
        yield from _check_value(f"focus {match['total']}", f"{before} {unit}", base_row)
        yield from _check_value(f"focus {match['total']}", f"{number} {unit}", row)
    for part in SEGMENT.finditer(match["parts"]):
        segment = rows.get((f"{metric}[{part['column']}={part['value']}]", run))
        if segment and segment.verdict != part["verdict"]:
            yield f"focus {match['total']}: {part['value']} {part['verdict']} instead of {segment.verdict}"


def _check_headline(answer: Mapping[str, Any], listed: list[Row], run: str, base: str) -> Iterator[str]:
    text, counts = answer["headline"], answer["counts"]
    if f" {answer['run']} " not in f" {text} " or f" {answer['base']} " not in f" {text.replace(';', ' ')} ":
        yield f"headline: {text} does not name {run} and {base}"
    number = {word: int(match[1]) if (match := re.search(rf"(\d+) {word}", counts)) else 0 for word in CERTAIN}
    alone = {word: int(match[1]) if (match := re.search(rf"\d+ {word} \((\d+) by", counts)) else 0 for word in CERTAIN}
    for word in CERTAIN[:2]:
        rows = [row for row in listed if row.verdict == word]
        marked = [row for row in rows if row.cells["verdict"].endswith(BY_ITSELF)]
        if (number[word], alone[word]) != (len(rows), len(marked)):
            yield f"counts: {number[word]} {word} ({alone[word]}) instead of {len(rows)} ({len(marked)})"
        stated = re.search(rf"{word} (?:than this run of \S+ |than \S+ )?in (\d+)", text)
        if stated and int(stated[1]) != len(rows) - len(marked):
            yield f"headline: {stated[0]} instead of {len(rows) - len(marked)}"
        if len(rows) > len(marked) and word not in text:
            yield f"headline: {text} lacks {word}"


def _check_observations(document: Mapping[str, Any], observations: Mapping[str, Any], rows: Rows) -> Iterator[str]:
    paragraphs = observations["text"]
    runs = {run for metric, run in rows if "verdict" in rows[metric, run].cells}
    for number, text in enumerate(paragraphs):
        quoted = [item for item in observations["quoted"] if item["paragraph"] == number]
        for item in quoted:
            if item["prints"] == "row":
                yield from _check_quoted_cell(document, text, item)
            elif item["prints"] == "average":
                yield from _check_quoted_average(text, item, rows)
            else:
                yield from _check_quote(text, item, rows, runs)
        if text.startswith(CANNOT_TELL):
            yield from _check_undecided(text, rows, runs)
        yield from _check_outcomes(document, text)


def _check_quoted_cell(document: Mapping[str, Any], text: str, item: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a sentence says of a row that the cell of the same metric, run and row does not."""
    words = text[item["begin"] : item["end"]]
    cell = find_cell(document, item["sources"][-1])
    if cell is None:
        yield f"{words} in {text!r}: no table has {item['sources'][-1]}"
        return
    digits, _, unit = words.partition(" ")
    if not _is_same_number(digits, cell[0]) or unit != cell[1]:
        yield f"{words} in {text!r} instead of {' '.join(cell)}"


def _check_quoted_average(text: str, item: Mapping[str, Any], rows: Rows) -> Iterator[str]:
    source, words = item["sources"][-1], text[item["begin"] : item["end"]]
    row = rows.get((source["entry"], source["run"]))
    if row is None or not item["of"].startswith(f"{row.name};"):
        yield f"{words} in {text!r}: no row of {item['of']} has {source}"
    else:
        yield from _check_value(f"{words} in {text!r}", words, row)


def _check_outcomes(document: Mapping[str, Any], text: str) -> Iterator[str]:
    """Yield the scenarios that a sentence calls undecided though the table of scenarios has a result."""
    tables = [table for part in document["parts"] for table in part["tables"] if table["header"][:1] == ["Scenario"]]
    results = {row[0]: row[table["header"].index("Result")] for table in tables for row in table["rows"]}
    for name in re.findall("“([^”]+)”", text) if "not decided" in text else ():
        if not results.get(name, "").startswith(("no ", "N/A")):
            yield f"{text!r}: {name} is {results.get(name)}"


def _check_quote(text: str, item: Mapping[str, Any], rows: Rows, runs: set[str]) -> Iterator[str]:
    run = item["sources"][-1]["run"] if item.get("sources") else item["run"]
    words, row = text[item["begin"] : item["end"]], rows[item["entry"], run]
    cell = row.cells[item["prints"]]
    where = f"{text!r} against {cell} of {row.name} in {item['run']}"
    has_own_words = " from " in text  # those of the author of a rule: `The rate of disk writes falls from`
    head = text[: item["begin"]]
    direction = re.findall(rf"\b({'|'.join((*RISES, *FALLS))})\b", head)
    sign = Decimal(cell.replace("−", "-"))
    if not direction or (direction[-1] in RISES) != (sign > 0):
        yield f"sign: {where}"
    digits, _, unit = words.partition(" ")
    if not _is_same_number(digits, cell.lstrip("+-−")):
        yield f"size: {where}"
    if unit != ("%" if item["prints"] == "percent" else row.unit):
        yield f"unit: {where}"
    if row.name not in head and not (has_own_words and item["of"].startswith(f"{row.name};")):
        yield f"metric: {where}"
    places = re.findall(r" in (\S+?)(?:, by itself)?\.$", text)
    if len(runs) > 1 and places != [item["run"]]:
        yield f"run: {where}"
    if row.cells["verdict"] and row.verdict not in CERTAIN:
        yield f"verdict: {where}"
    if row.cells["verdict"].endswith(BY_ITSELF) and not text.endswith(f"{BY_ITSELF}."):
        yield f"verdict: {where}"


def _check_undecided(text: str, rows: Rows, runs: set[str]) -> Iterator[str]:
    names = text.removeprefix(CANNOT_TELL).rstrip(".")
    run = next((item for item in runs if names.endswith(f" in {item}")), "" if len(runs) > 1 else next(iter(runs)))
    by_name = {row.name: row for (_, name), row in rows.items() if name == run}
    for name in re.split(r", | and ", names.removesuffix(f" in {run}")):
        if name not in by_name or by_name[name].verdict != "cannot tell":
            yield f"verdict: {text!r}: {name} in {run or 'no run'}"


def _check_value(where: str, text: str, row: Row) -> Iterator[str]:
    """Yield what differs between a value with its unit and the cell of an average, which may have another prefix."""
    number, _, unit = text.partition(" ")
    printed, cell = row.cells["average"], f"{row.cells['average']} {row.unit}"
    if unit == row.unit or not row.unit:
        differs = not _is_same_number(number, printed)
    else:
        values = [_find_value(*item) for item in ((number, unit), (printed, row.unit))]
        (first, step, base), (second, other_step, other_base) = values
        differs = abs(first - second) > 1.001 * max(step, other_step) or base != other_base
    if differs:
        yield f"{where}: {text} instead of {cell}"


def _find_value(number: str, unit: str) -> tuple[float, float, str]:
    """Return a number in its unit without prefix, one of its last digit, and this unit."""
    match = re.fullmatch(r"(Ki|Mi|Gi|Ti|[kmµnMGT])?(B(?:/s)?|Bytes|s|Hz)", unit)
    prefix, base = (match[1] or "", match[2]) if match else ("", unit)
    factor = _PREFIXES[prefix]
    return float(number) * factor, 10.0 ** _get_exponent(Decimal(number)) * factor, base


def _is_same_number(text: str, other: str) -> bool:
    """Return whether two printed numbers agree to the digits of the one with fewer."""
    if text == other:
        return True
    try:
        first, second = (Decimal(item.replace("−", "-").replace(",", "")) for item in (text, other))
    except ArithmeticError:
        return {text, other} <= {"–", "—", ""}
    places = max(_get_exponent(first), _get_exponent(second))
    return abs(first - second) <= Decimal(10) ** places


def _get_exponent(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return exponent


def _get_mark(row: Row) -> str:
    return row.cells["verdict"][:1] if row.cells["verdict"][:1] in "▲▼" else ""


def _find_run(answer: Mapping[str, Any], rows: Rows) -> str:
    run: str = answer["run_id"]
    assert any(name == run for _, name in rows)
    return run


def _find_base(rows: Rows) -> str:
    return next(run for (_, run), row in rows.items() if "verdict" not in row.cells)
