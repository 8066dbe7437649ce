"""Cases of ingest as files: a source, events, the files of a run, and the rows, warnings or error they yield.

`cases/README.md` describes the form. `python -m tests.ingest.case_files` records the results of the present code.
"""

from __future__ import annotations

import gzip
import itertools
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
import zstandard

from assay.ingest.decompress import iter_decompressed
from assay.ingest.discovery import find_run
from assay.ingest.manifest import read_notes
from assay.ingest.run_constants import list_duplicate_constant_warnings, read_constants, set_start
from assay.lang import decode
from assay.lang.model.package import Event, Field, Form, Name, Source, Transform, Unless
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.lang.model.vocabulary import Unit
from assay.lang.plain_data import to_plain_data
from assay.util.diagnostics import AssayError
from tests.support.ingesting import ONE, SOURCES, IngestedFolder, format_error, ingest_log, write_files

FOLDER = Path(__file__).with_name("cases")
_DETAILS = ("warnings", "error")  # members of a result that are no tables


@dataclass(frozen=True, slots=True)
class Case:
    """An input of ingest and its expected result; `position` holds its file and the numbers of its case and example."""

    position: tuple[str, int, int | None]
    name: str
    stage: str
    source: Source
    events: tuple[Event, ...]
    wanted: Mapping[str, frozenset[str]] | None
    workers: int | None
    files: Mapping[str, bytes]
    expect: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Return the name of the file and of the case, and the number of its example."""
        file, _, example = self.position
        words = "-".join(re.findall(r"\w+", self.name))
        return f"{file}/{words}" + ("" if example is None else f"-{example + 1}")


def read_file(path: Path) -> dict[str, Any]:
    """Return the plain data of a file of cases."""
    data: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return data


def list_cases() -> list[Case]:
    return [case for path in sorted(FOLDER.glob("*.yaml")) for case in iter_cases(path)]


def iter_cases(path: Path) -> Iterator[Case]:
    """Yield the cases of a file, one for each example of those that have some."""
    data = read_file(path)
    for number, item in enumerate(data["cases"]):
        merged_data = {**data, **item, "source": {**data["source"], **item.get("source", {})}}
        for index, example in enumerate(item.get("examples", [None])):
            place = None if example is None else index
            yield _decode_case((path.stem, number, place), _fill(merged_data, example or {}))


def _fill(case: Mapping[str, Any], example: Mapping[str, Any]) -> dict[str, Any]:
    """Return a case with the values of an example in its places `<name>`; members of an example replace the case's."""
    values = {f"<{name}>": value for name, value in example.items() if name not in case}
    filled = {name: _put(part, values) for name, part in case.items() if name not in ("examples", "cases")}
    return filled | {name: value for name, value in example.items() if name in case}


def _put(part: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(part, str):
        if part in values:
            return values[part]
        for place, value in values.items():
            part = part.replace(place, str(value))
        return part
    if isinstance(part, dict):
        return {_put(name, values): _put(inner, values) for name, inner in part.items()}
    return [_put(inner, values) for inner in part] if isinstance(part, list) else part


def _decode_case(position: tuple[str, int, int | None], data: Mapping[str, Any]) -> Case:
    source = decode_source(data["source"])
    return Case(
        position=position,
        name=data["name"],
        stage=data.get("stage", "records"),
        source=source,
        events=tuple(decode_event(name, item, source) for name, item in data.get("events", {}).items()),
        wanted={name: frozenset(fields) for name, fields in data["wanted"].items()} if "wanted" in data else None,
        workers=data.get("workers"),
        files={name: _encode_content(name, content) for name, content in data["files"].items()},
        expect=data.get("expect", {}),
    )


def _encode_content(name: str, content: str | Mapping[str, str]) -> bytes:
    """Return the bytes of a file: UTF-8, or a byte for each character of `latin1`; packed where the name says so."""
    plain_bytes = content.encode() if isinstance(content, str) else content["latin1"].encode("latin-1")
    if name.endswith(".gz"):
        return gzip.compress(plain_bytes, mtime=0)
    return zstandard.ZstdCompressor().compress(plain_bytes) if name.endswith(".zst") else plain_bytes


def decode_source(data: Mapping[str, Any]) -> Source:
    """Return the source of tests of a kind, with other members as normal forms write them."""
    (source,) = decode.decode_sources([to_plain_data(SOURCES[data["kind"]]) | data], "case")
    return source


def decode_event(name: str, data: Mapping[str, Any], source: Source) -> Event:
    return Event(name, source.name, tuple(_decode_form(item) for item in data.get("forms", [data])), "")


def _decode_form(data: Mapping[str, Any]) -> Form:
    names = [Name(generation, name) for generation, name in data.get("names", {}).items()]
    names += [Name("log", pattern) for pattern in data.get("patterns", [])]
    exclusions = [
        Unless(_decode_path(item["at"]), item.get("equals", ""), item.get("present", False))
        for item in data.get("unless", [])
    ]
    return Form(
        tuple(names),
        tuple(exclusions),
        tuple(_decode_field(name, item) for name, item in data["fields"].items()),
        tuple(_decode_path(path) for path in data.get("time", [])),
    )


def _decode_field(name: str, data: str | Mapping[str, Any]) -> Field:
    """Return a field: a type, or its members where it is not required or not read at its own name."""
    members = {"type": data} if isinstance(data, str) else data
    paths = tuple(_decode_path(path) for path in members.get("at", [[name]]))
    default, transforms = members.get("default"), members.get("transforms", [])
    is_required = not members.get("optional", False) and default is None and bool(paths)
    unit = Unit(members["unit"], members.get("symbol", "")) if "unit" in members else ONE
    return Field(
        name, members["type"], unit, "value", paths, default, is_required, tuple(map(_decode_transform, transforms)), ""
    )


def _decode_path(path: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(path.split(".")) if isinstance(path, str) else tuple(path)


def _decode_transform(data: str | Mapping[str, Any]) -> Transform:
    if isinstance(data, str):
        return Transform(data, 0, "")
    ((kind, value),) = data.items()
    return Transform(kind, value, "") if isinstance(value, int) else Transform(kind, 0, value)


def compute_result(case: Case, folder: Path) -> dict[str, Any]:
    """Return the result of a case with the tables and columns that it expects; with all where it expects nothing."""
    try:
        return _STAGES[case.stage](case, folder)
    except AssayError as error:
        assert [path.name for path in folder.iterdir()] == ["run"], "something is left behind"
        return {"error": format_error(error, folder)}


def _read_records(case: Case, folder: Path) -> dict[str, Any]:
    """Return rows of tables; check the offsets in quarantine too."""
    write_files(folder / "run", case.files)
    source = set_start(case.source, read_constants(case.source, folder / "run"), "run")
    ingested = ingest_log(folder, case.files, case.events, case.wanted, source, case.workers)
    ingested.read_quarantine()
    files = [file for host in find_run(source, folder / "run", case.events).hosts for file in host.files]
    _check_counts(ingested, files if SOURCE_KINDS[source.kind].is_log else None)
    expect = case.expect if case.expect.keys() - {"error"} else dict.fromkeys(_list_tables(ingested), ())
    result: dict[str, Any] = {
        table: _read_rows(ingested, table, rows) for table, rows in expect.items() if table not in _DETAILS
    }
    return result | ({"warnings": list(read_notes(ingested.folder))} if "warnings" in expect else {})


def _check_counts(ingested: IngestedFolder, logs: Sequence[Path] | None) -> None:
    """Check that lines used, malformed, text and unknown are no more than those read: a report prints the difference.

    Of a log, all lines are read. Malformed lines of a text log have names as well.
    """
    lines = sum(lines for (lines,) in ingested.read_rows("logs", "lines"))
    counted = sum(sum(row) for row in ingested.read_rows("logs", "recognised", "quarantined", "text_lines"))
    names = ingested.read_rows("unknown", "n", "malformed") if (ingested.folder / "unknown.parquet").exists() else []
    unknown = sum(n for n, malformed in names if not malformed)
    assert counted + unknown <= lines, (lines, counted, unknown)
    if logs is not None:
        assert lines == sum(_count_lines(b"".join(iter_decompressed(path))) for path in logs)


def _count_lines(content: bytes) -> int:
    return content.count(b"\n") + (not content.endswith(b"\n") and content != b"")


def _list_tables(ingested: IngestedFolder) -> list[str]:
    events = ingested.folder / "events"
    return [*sorted(path.name for path in events.iterdir()), "quarantine", "warnings"]


def _read_rows(ingested: IngestedFolder, table: str, expected: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with the expected columns; with those of the event where no row is expected."""
    unwanted = ("host", "t_ns", "whole", "offset", "file")
    columns = [*expected[0]] if expected else [name for name in ingested.list_columns(table) if name not in unwanted]
    return [dict(zip(columns, row, strict=True)) for row in ingested.read_rows(table, *columns)]


def _list_files(case: Case, folder: Path) -> dict[str, Any]:
    """Return the log files of each host, in the order of reading."""
    write_files(folder / "run", case.files)
    hosts = find_run(case.source, folder / "run").hosts
    return {
        "hosts": {host.host: [path.relative_to(folder / "run").as_posix() for path in host.files] for host in hosts}
    }


def _read_constants(case: Case, folder: Path) -> dict[str, Any]:
    """Return the constants of the source, and the warnings of their documents."""
    write_files(folder / "run", case.files)
    constants = dict(read_constants(case.source, folder / "run"))
    warnings = list(list_duplicate_constant_warnings(case.source, folder / "run"))
    return {"constants": constants} | ({"warnings": warnings} if warnings else {})


_STAGES = {"records": _read_records, "files": _list_files, "constants": _read_constants}


class _Dumper(yaml.CSafeDumper):
    """Writes texts of several lines as blocks, and collections of scalars in one line."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text.strip("\n") or (len(text) > 1 and text.endswith("\n")) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.ignore_aliases = lambda *_: True  # type: ignore[method-assign]
_Dumper.add_representer(str, _represent_text)


def to_text(data: Any) -> str:
    """Return plain data as the text of a file of cases; equal texts are equal data, of equal types."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120)


def accept(path: Path) -> None:
    """Record the results of all cases of a file; that of an example goes into the example if it differs."""
    data = read_file(path)
    for case in iter_cases(path):
        with tempfile.TemporaryDirectory() as folder:
            result = compute_result(case, Path(folder))
        _, number, example = case.position
        if to_text(result) != to_text(case.expect):
            item = data["cases"][number]
            (item if example is None else item["examples"][example])["expect"] = result
    head = "".join(itertools.takewhile(lambda line: line.startswith("#"), path.open(encoding="utf-8")))
    path.write_text(head + to_text(data), encoding="utf-8")


def main() -> None:
    for path in sorted(FOLDER.glob("*.yaml")):
        accept(path)


if __name__ == "__main__":
    main()
