"""Create small QA runs of a testnet: load reports of a few experiments, and samples of nodes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

BEGIN = 1_767_225_600  # 2026-01-01, s
HEAD = "experiment_id,block_time,duration_ns,tx_hash,connections,rate,size"


@dataclass(frozen=True, slots=True)
class Experiment:
    """Transactions that are all in one block, `start + 2` s after the start of the run, with one latency (ns)."""

    id: str
    start: int = 5
    connections: int = 1
    rate: int = 50
    count: int = 1450
    latency: int = 1_000_000_000

    def iter_rows(self) -> Iterable[str]:
        """Yield the rows of the load report."""
        block = (BEGIN + self.start + 2) * 10**9
        for number in range(self.count):
            fields = f"{self.latency},{self.id}-{number},{self.connections},{self.rate},1024"
            yield f"{self.id},{block},{fields}"


def create_load_run(run: Path, *experiments: Experiment, **facts: object) -> Path:
    """Create a run with these experiments, named like its folder."""
    (run / "report").mkdir(parents=True)
    rows = [row for item in experiments for row in item.iter_rows()]
    (run / "report" / "raw.csv").write_text("\n".join([HEAD, *rows, ""]), encoding="utf-8")
    meta = {"ident": run.name, "experiment_seconds": 30, **facts}
    (run / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    return run


def add_samples(run: Path, series: Mapping[str, Mapping[str, Sequence[tuple[int, str]]]]) -> Path:
    """Add samples to a run: metric -> node -> (seconds since the start, value)."""
    lines = []
    for metric, nodes in series.items():
        lines.append(f"# TYPE {metric} gauge")
        for node, values in nodes.items():
            lines += [
                f'{metric}{{job="{node}",instance="{node}:1"}} {value} {BEGIN + second}' for second, value in values
            ]
    (run / "samples.om").write_text("\n".join([*lines, "# EOF", ""]), encoding="utf-8")
    return run
