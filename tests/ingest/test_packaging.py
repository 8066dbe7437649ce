"""How records are packaged changes nothing: in how many files they are, in what order, how these are packed, linked,
called, how their lines end.

Records of every kind, broken ones among them, are packaged at random, and come to the same events, counts and reasons.
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

from assay.ingest.decompress import decompressed
from assay.lang.model.package import Event, Quarantine, Source
from tests.ingest import test_blocks as blocks
from tests.ingest import test_csv as tables
from tests.ingest import test_json_records as records
from tests.ingest import test_samples as samples
from tests.ingest import test_text_lines as texts
from tests.support import packaging
from tests.support.commands import assay
from tests.support.ingesting import SOURCE, TICK, Ingested, read, record
from tests.support.mixed import mixed

#: number of random variants; `just fuzz` runs more
TIMES = int(os.environ.get("ASSAY_FUZZ_EXAMPLES", "2"))
S = 1795231211


@dataclass(frozen=True, slots=True)
class Kind:
    """Records of a kind of source, whole, broken and no events, and how a file is made of some of them.

    `named` are names of its files, in the order in which they are read; in any order where instants tell that.
    """

    source: Source
    event: Event
    records: Sequence[str]
    made: Callable[[Sequence[str]], str]
    named: Sequence[str]
    in_any_order: bool = False


def _instant_at(number: int) -> str:
    return f"2026-02-05T18:{number:02}:16.000"


def _write_om(lines: Sequence[str]) -> str:
    return "".join([*lines, "# EOF\n"])


def _write_answer(pairs: Sequence[str]) -> str:
    head = '{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"peers"},"values":['
    return f"{head}{','.join(pairs)}]}}]}}}}"


KINDS = {
    "json-lines": Kind(
        SOURCE, TICK,
        [f'{record(ts=f"{_instant_at(n)}Z", n=n)}\n{{"n":{n}\n\ntext {n}\n{record("Other")}\n' for n in range(9)],
        "".join, ["m-1/out", "m-1/out.1", "m-1/out.10", "m-1/out-a", "m-1/m-1.json"], in_any_order=True,
    ),
    "text-lines": Kind(
        texts.LINES, texts.TICK,
        ["".join(f"{texts.line(said, _instant_at(n))}\n" for said in (f"Tick {n}", f"Tick é{n}", "Other")) + " \ntext\n"
         for n in range(9)],
        "".join, ["m-1/out", "m-1/out.1", "m-1/out.10", "m-1/out-a"], in_any_order=True,
    ),
    "csv": Kind(
        tables.TABLE, tables.ROW, [f"{n},{n}\n" if n % 3 else f'{n},"x,{n}"\n{n}\n' for n in range(9)],
        lambda rows: "at,n\n" + "".join(rows), ["a.csv", "b.csv", "c.csv"],
    ),
    "json-records": Kind(
        records.LISTS, records.ROW,
        [f'{{"time": {n}, "n": {n}, "m": 1}}' if n % 3 else f'{{"time": {n}, "n": "é", "m": 1}}' for n in range(1, 9)],
        lambda items: f'{{"data": {{"list": [{", ".join(items)}]}}}}\n', ["a.json", "a1.json", "a2.json"],
    ),
    "blocks": Kind(
        blocks.BLOCKS, blocks.BLOCK, [f"Id: é{n}  Id: b{n}\n  N: {n}  N: {'x' if n % 3 else n}\n" for n in range(9)],
        "".join, ["a.txt", "b.txt", "c.txt"],
    ),
    "samples, a text": Kind(
        samples.METRICS, samples.PEERS,
        [f'peers{{job="é"}} {n} {S + n}\npeers {n}\nother 1 {S + n}\n# a comment\n' for n in range(9)],
        _write_om, ["a.om", "b.om", "c.om"], in_any_order=True,
    ),
    "samples, an answer": Kind(
        samples.METRICS, samples.PEERS,
        [f'[{S + n},"{n}"]' if n % 3 else f'[{S + n},"{n}"],[{S + n},1]' for n in range(9)],
        _write_answer, ["a.json", "b.json", "c.json"], in_any_order=True,
    ),
}  # fmt: skip


def read_packaged(random: Random, kind: Kind, folder: Path) -> Ingested:
    """Ingest the records of a kind in a random packaging."""
    ends, mark = random.choice(["\n", "\r\n"]), random.choice(["", "\ufeff"])
    some = packaging.parts(random, [item.encode() for item in kind.records], len(kind.named))
    names = random.sample(kind.named, len(some))
    for name, part in zip(names if kind.in_any_order else sorted(names), some, strict=True):
        text = mark + kind.made([item.decode() for item in part]).replace("\n", ends)
        packaging.put(random, folder / "run" / name, text.encode(), folder / "apart")
    return _read(kind, folder, workers=random.choice([1, 2, 7]))


def _read(kind: Kind, folder: Path, **options: Any) -> Ingested:
    return read(folder, {}, (kind.event,), None, replace(kind.source, quarantine=Quarantine(1.0, 10)), **options)


def summarize(kind: Kind, ingested: Ingested) -> object:
    """Return events, counts and reasons, without names of files and positions."""
    fields = [item.name for form in kind.event.forms for item in form.fields]
    of_events = ingested.rows(kind.event.name, "host", "t_ns", *fields)
    return of_events, ingested.rows("counts"), ingested.log(), sorted(ingested.rows("quarantine", "reason", "text"))


def _check_offsets(ingested: Ingested) -> None:
    """Check that each broken record begins at its reported offset, apart from labels before a sample."""
    for name, offset, text in ingested.rows("quarantine", "file", "offset", "text"):
        there = b"".join(decompressed(ingested.folder.parent / "run" / name))[offset:].decode("utf-8")
        start = re.sub(r"^\{\"__name__.*\} (?=\[)", "", text).split("; ")[0][:8]
        assert there.startswith(start), (name, offset)


@pytest.mark.parametrize("seed", range(TIMES))
@pytest.mark.parametrize("name", KINDS)
def test_records_are_the_same_in_any_packaging(tmp_path: Path, name: str, seed: int) -> None:
    kind = KINDS[name]
    plain = tmp_path / "plain" / "run" / kind.named[0]
    plain.parent.mkdir(parents=True)
    plain.write_text(kind.made(kind.records), encoding="utf-8")
    expected = summarize(kind, _read(kind, tmp_path / "plain"))
    ingested = read_packaged(Random(f"{seed} {name}"), kind, tmp_path / "packaged")
    assert summarize(kind, ingested) == expected
    _check_offsets(ingested)
    log = ingested.log()
    assert (log["recognised"] > 0, log["quarantined"] > 0) == (True, True)


#: hashes of a report's inputs
HASH = re.compile(r'"[0-9a-f]{64}"')


@pytest.mark.parametrize("kind", ["", ".tar", ".tar.gz", ".tar.zst", ".zip"])
def test_report_is_the_same_for_any_packaging_of_run(tmp_path: Path, kind: str) -> None:
    place, random = mixed(tmp_path / "mixed"), Random(kind)
    run, other = place / "runs" / "v1", place / "other" / "v1"
    for path in sorted(run.rglob("*"), key=lambda _: random.random()):
        if path.is_file() and path.suffix == ".json":
            other.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, other)
        elif path.is_file():
            packaging.put(random, other / path.relative_to(run), path.read_bytes(), place / "apart")
    if kind:
        other = packaging.archived(random, other, kind)
    assert assay("query", "size", "--run", other, "--cache", tmp_path / "cache", within=place).status == 0
    assert _build_report(place, run, tmp_path / "cache") == _build_report(place, other, tmp_path / "cache")


def _build_report(place: Path, run: Path, cache: Path) -> list[str]:
    """Return results and document of the report of a run."""
    out = place / "out"
    done = assay("build", "mix/main", "--run", f"v={run}", "-o", out, "--cache", cache, "--to", "md", within=place)
    assert (done.status, done.err) == (0, "")
    return [HASH.sub('"HASH"', (out / name).read_text("utf-8")) for name in ("results.json", "document.json")]
