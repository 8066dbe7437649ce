"""Verify what workers computed: hosts of a random sample are computed once more, together with other hosts.

That the rows of a host depend on that host alone is proved for each statement (`assay.sql.partitioning`). A mistake
there would be a wrong number, so a sample is compared with other portions. The sample of a small run is the whole run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

import duckdb
from sqlglot import exp

from assay.engine.portion_plan import PortionPlan
from assay.engine.portions import (
    ANSWERS,
    HOST_ROWS,
    Partition,
    Portion,
    get_host,
    list_host_rows,
    read_partition,
    sort_rows,
)
from assay.engine.result_cache import Store
from assay.sql import dialect
from assay.util.diagnostics import INTERNAL, AssayError, fail


def choose_sample(seed: str, sizes: Mapping[str, int], groups: Sequence[Sequence[str]], most: int) -> tuple[str, ...]:
    """Return the hosts to compute once more: all if their logs have at most `most` bytes, else one of each group.

    The choice depends on the seed alone. Hosts are left out at random until their logs have at most `most` bytes, but
    two stay.
    """
    if sum(sizes.values()) <= most:
        return tuple(sorted(sizes))
    random = Random(seed)
    hosts = [random.choice(list(group)) for group in groups]
    random.shuffle(hosts)
    while len(hosts) > 2 and sum(sizes[host] for host in hosts) > most:
        hosts.pop()
    return tuple(sorted(hosts))


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared of a run, as plain data: kind, hash and name of `answers`, hash and name of `tables`.

    `label` names the run, `partition` is that of the sample. `sample` and `portions` are keys of entries of a kind,
    `place`.
    """

    label: str
    partition: Partition
    place: str
    sample: str
    portions: tuple[str, ...]
    answers: tuple[tuple[str, str, str], ...]
    tables: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Comparison:
        """Return the comparison of plain data that `to_json` returned."""
        pairs = {name: tuple(map(tuple, data[name])) for name in ("answers", "tables")}
        return Comparison(
            **{**data, "partition": read_partition(data["partition"]), "portions": tuple(data["portions"]), **pairs}
        )


def plan_comparison(plan: PortionPlan, portions: Sequence[Portion], sample: Portion) -> Comparison:
    """Return the comparison of a sample with the portions of its run."""
    names = {node.name for node in plan.job.graph}  # the times of cells have no hosts
    return Comparison(
        plan.job.label,
        sample.partition,
        *sample.entry,
        tuple(portion.key for portion in portions),
        tuple((kind, plan.hashes[name], name) for kind, name in plan.answers if kind in HOST_ROWS),
        tuple((plan.hashes[name], name) for name in sorted(plan.tables) if name in names),
    )


def verify_sample(comparison: Comparison, store: Store) -> None:
    """Compare the rows and answers of the sample's hosts with those of the portions.

    Raises AssayError with the first statement that differs.
    """
    folders = [store.get_path(comparison.place, key) for key in comparison.portions]
    sample_folder = store.get_path(comparison.place, comparison.sample)
    differing = next(
        (
            name
            for key, name in comparison.tables
            if not _has_equal_rows(key, folders, sample_folder, comparison.partition)
        ),
        "",
    )
    if differing := differing or _find_different_answer(comparison, folders, sample_folder):
        raise _build_difference_error(comparison, differing)


def _build_difference_error(comparison: Comparison, name: str) -> AssayError:
    partition = comparison.partition
    subject, others = (partition.key, "values") if partition.key else ("host", "hosts")
    names = f" among {', '.join(partition.hosts[:3])}" if partition.hosts else ""
    return fail(
        "cluster-difference",
        f"run {comparison.label}: `{name}` of a {subject} differs when other {others} are computed with it",
        expected=f"the same rows of each {subject} in every portion of the run",
        found=f"other rows of a {subject}{names}",
        hint="this is a bug of Assay, please report it; build without --on",
        status=INTERNAL,
    )


def _find_different_answer(comparison: Comparison, folders: Sequence[Path], sample_folder: Path) -> str:
    """Return the first statement with another answer for a host of the sample; empty if there is none."""
    parts, expected, hosts = (
        list(map(_read_answers, folders)),
        _read_answers(sample_folder),
        set(comparison.partition.hosts),
    )
    for kind, key, name in comparison.answers:
        rows = [row for part in parts for row in list_host_rows(kind, part[key]) if get_host(row) in hosts]
        if sort_rows(kind, rows) != sort_rows(kind, list_host_rows(kind, expected[key])):
            return name
    return ""


def _read_answers(folder: Path) -> dict[str, list[Any]]:
    answers: dict[str, list[Any]] = json.loads((folder / ANSWERS).read_text(encoding="utf-8"))["answers"]
    return answers


def _has_equal_rows(key: str, folders: Sequence[Path], sample_folder: Path, partition: Partition) -> bool:
    """Return whether the files of portions have the rows of the sample's hosts, in any order."""
    files = [folder / f"{key}.parquet" for folder in (sample_folder, *folders)]
    if not all(file.is_file() for file in files):  # a type that cannot be stored: the table is not joined
        return True
    expected, actual = _select_rows(files[:1]), _select_rows(files[1:]).where(partition.build_condition())
    with duckdb.connect(config={"threads": 1}) as connection:
        return not any(
            connection.execute(dialect.to_sql(exp.Except(this=left.copy(), expression=right.copy(), distinct=False)))
            .fetchmany(1)
            for left, right in ((expected, actual), (actual, expected))
        )  # fmt: skip


def _select_rows(files: Sequence[Path]) -> exp.Select:
    places = [exp.Literal.string(str(file.absolute())) for file in files]
    return dialect.select("*").from_(
        exp.Subquery(this=dialect.select("*").from_(exp.ReadParquet(expressions=[exp.Array(expressions=places)])))
    )
