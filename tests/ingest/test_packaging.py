"""Test that packaging does not change records: the number, order, names, compression and line ends of files.

Records of every kind, some of them broken, are packaged at random, and give the same events, counts and reasons.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from assay.ingest.decompress import iter_decompressed
from assay.lang.model.package import Event, Quarantine, Source
from tests.ingest import test_blocks as blocks
from tests.ingest import test_csv as tables
from tests.ingest import test_json_records as records
from tests.ingest import test_samples as samples
from tests.ingest import test_text_lines as texts
from tests.support import packaging
from tests.support.commands import run_assay
from tests.support.ingesting import SOURCE, TICK, IngestedFolder, format_record, ingest_log
from tests.support.mixed import create_mixed_workspace

#: number of random variants; `just fuzz` runs more
TIMES = int(os.environ.get("ASSAY_FUZZ_EXAMPLES", "2"))
S = 1795231211


@dataclass(frozen=True, slots=True)
class Kind:
    """Records of a kind of source (whole, broken, unknown), and how to write some of them as a file.

    `file_names` are the names of its files in reading order, or in any order if instants determine the order.
    """

    source: Source
    event: Event
    records: Sequence[str]
    format_file: Callable[[Sequence[str]], str]
    file_names: Sequence[str]
    is_order_free: bool = False


def _format_instant(number: int) -> str:
    return f"2026-02-05T18:{number:02}:16.000"


def _write_om(lines: Sequence[str]) -> str:
    return "".join([*lines, "# EOF\n"])


def _write_answer(pairs: Sequence[str]) -> str:
    beginning = '{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"peers"},"values":['
    return f"{beginning}{','.join(pairs)}]}}]}}}}"


KINDS = {
    "json-lines": Kind(
        SOURCE,
        TICK,
        [
            f'{format_record(ts=f"{_format_instant(n)}Z", n=n)}\n{{"n":{n}\n\ntext {n}\n{format_record("Other")}\n'
            for n in range(9)
        ],
        "".join,
        ["m-1/out", "m-1/out.1", "m-1/out.10", "m-1/out-a", "m-1/m-1.json"],
        is_order_free=True,
    ),
    "text-lines": Kind(
        texts.LINES,
        texts.TICK,
        [
            "".join(f"{texts.format_line(word, _format_instant(n))}\n" for word in (f"Tick {n}", f"Tick é{n}", "Other"))
            + " \ntext\n"
            for n in range(9)
        ],
        "".join,
        ["m-1/out", "m-1/out.1", "m-1/out.10", "m-1/out-a"],
        is_order_free=True,
    ),
    "csv": Kind(
        tables.TABLE,
        tables.ROW,
        [f"{n},{n}\n" if n % 3 else f'{n},"x,{n}"\n{n}\n' for n in range(9)],
        lambda rows: "at,n\n" + "".join(rows),
        ["a.csv", "b.csv", "c.csv"],
    ),
    "json-records": Kind(
        records.LISTS,
        records.ROW,
        [f'{{"time": {n}, "n": {n}, "m": 1}}' if n % 3 else f'{{"time": {n}, "n": "é", "m": 1}}' for n in range(1, 9)],
        lambda items: f'{{"data": {{"list": [{", ".join(items)}]}}}}\n',
        ["a.json", "a1.json", "a2.json"],
    ),
    "blocks": Kind(
        blocks.BLOCKS,
        blocks.BLOCK,
        [f"Id: é{n}  Id: b{n}\n  N: {n}  N: {'x' if n % 3 else n}\n" for n in range(9)],
        "".join,
        ["a.txt", "b.txt", "c.txt"],
    ),
    "samples, a text": Kind(
        samples.METRICS,
        samples.PEERS,
        [f'peers{{job="é"}} {n} {S + n}\npeers {n}\nother 1 {S + n}\n# a comment\n' for n in range(9)],
        _write_om,
        ["a.om", "b.om", "c.om"],
        is_order_free=True,
    ),
    "samples, an answer": Kind(
        samples.METRICS,
        samples.PEERS,
        [f'[{S + n},"{n}"]' if n % 3 else f'[{S + n},"{n}"],[{S + n},1]' for n in range(9)],
        _write_answer,
        ["a.json", "b.json", "c.json"],
        is_order_free=True,
    ),
}


def read_packaged(random: Random, kind: Kind, folder: Path) -> IngestedFolder:
    """Ingest the records of a kind in a random packaging."""
    ends, mark = random.choice(["\n", "\r\n"]), random.choice(["", "\ufeff"])
    packaged_files = packaging.divide_records(random, [item.encode() for item in kind.records], len(kind.file_names))
    names = random.sample(kind.file_names, len(packaged_files))
    for name, part in zip(names if kind.is_order_free else sorted(names), packaged_files, strict=True):
        text = mark + kind.format_file([item.decode() for item in part]).replace("\n", ends)
        packaging.put(random, folder / "run" / name, text.encode(), folder / "apart")
    return _read(kind, folder, workers=random.choice([1, 2, 7]))


def _read(kind: Kind, folder: Path, **options: Any) -> IngestedFolder:
    return ingest_log(folder, {}, (kind.event,), None, replace(kind.source, quarantine=Quarantine(1.0, 10)), **options)


def summarize(kind: Kind, ingested: IngestedFolder) -> object:
    """Return events, counts and reasons, without names of files and positions."""
    fields = [item.name for form in kind.event.forms for item in form.fields]
    event_rows = ingested.read_rows(kind.event.name, "host", "t_ns", *fields)
    return (
        event_rows,
        ingested.read_rows("counts"),
        ingested.read_log(),
        sorted(ingested.read_rows("quarantine", "reason", "text")),
    )


def _check_offsets(ingested: IngestedFolder) -> None:
    """Check that each broken record begins at its reported offset, apart from labels before a sample."""
    for name, offset, text in ingested.read_rows("quarantine", "file", "offset", "text"):
        text_at_offset = b"".join(iter_decompressed(ingested.folder.parent / "run" / name))[offset:].decode("utf-8")
        start = re.sub(r"^\{\"__name__.*\} (?=\[)", "", text).split("; ")[0][:8]
        assert text_at_offset.startswith(start), (name, offset)


@pytest.mark.parametrize("seed", range(TIMES))
@pytest.mark.parametrize("name", KINDS)
def test_records_are_the_same_in_any_packaging(tmp_path: Path, name: str, seed: int) -> None:
    kind = KINDS[name]
    plain_file = tmp_path / "plain" / "run" / kind.file_names[0]
    plain_file.parent.mkdir(parents=True)
    plain_file.write_text(kind.format_file(kind.records), encoding="utf-8")
    expected = summarize(kind, _read(kind, tmp_path / "plain"))
    ingested = read_packaged(Random(f"{seed} {name}"), kind, tmp_path / "packaged")
    assert summarize(kind, ingested) == expected
    _check_offsets(ingested)
    log = ingested.read_log()
    assert (log["recognised"] > 0, log["quarantined"] > 0) == (True, True)


#: hashes of a report's inputs
HASH = re.compile(r'"[0-9a-f]{64}"')


@pytest.mark.parametrize("kind", ["", ".tar", ".tar.gz", ".tar.zst", ".zip"])
def test_report_is_the_same_for_any_packaging_of_run(tmp_path: Path, kind: str) -> None:
    place, random = create_mixed_workspace(tmp_path / "mixed"), Random(kind)
    run, other_run = place / "runs" / "v1", place / "other" / "v1"
    for path in sorted(run.rglob("*"), key=lambda _: random.random()):
        if path.is_file() and path.suffix == ".json":
            other_run.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, other_run)
        elif path.is_file():
            packaging.put(random, other_run / path.relative_to(run), path.read_bytes(), place / "apart")
    if kind:
        other_run = packaging.archive_folder(random, other_run, kind)
    assert run_assay("query", "size", "--run", other_run, "--cache", tmp_path / "cache", cwd=place).status == 0
    assert _build_report(place, run, tmp_path / "cache") == _build_report(place, other_run, tmp_path / "cache")


def _build_report(place: Path, run: Path, cache: Path) -> list[str]:
    """Return results and document of the report of a run."""
    out = place / "out"
    result = run_assay("build", "mix/main", "--run", f"v={run}", "-o", out, "--cache", cache, "--to", "md", cwd=place)
    assert (result.status, result.err) == (0, "")
    return [HASH.sub('"HASH"', (out / name).read_text("utf-8")) for name in ("results.json", "document.json")]
