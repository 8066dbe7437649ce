"""Write a simulated testnet under load: samples of its nodes, and the transactions of a load tool.

The size is that of a published QA report: experiments with 1, 2 and 4 connections at four rates, 90 s each.
"""

from __future__ import annotations

import bisect
import gzip
import itertools
import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

START = 1_684_662_000  # seconds since 1970
SECONDS = 90  # of an experiment
PAUSE = 120  # seconds after an experiment
SAMPLE_INTERVAL = 5  # seconds
BLOCKS = 36  # of an experiment
BLOCK_INTERVAL = 2.6  # seconds
RATES, CONNECTIONS = (200, 400, 800, 1600), (1, 2, 4)
#: transactions that reach blocks in an experiment, at most
CAPACITY = 40_000
HEAD = "experiment_id,block_time,duration_ns,tx_hash,connections,rate,size\n"
SEED = 7

Value = Callable[[int], float]


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment: its start in seconds, connections, transactions per second and connection, and transactions."""

    start: int
    connections: int
    rate: int

    @property
    def transactions(self) -> int:
        """Return the number of transactions in blocks."""
        return min(self.connections * self.rate * (SECONDS - 1), CAPACITY)

    def list_blocks(self) -> list[tuple[float, int]]:
        """Return time and number of transactions of each block."""
        share, rest = divmod(self.transactions, BLOCKS)
        return [
            (self.start + 3 + number * BLOCK_INTERVAL, share + (rest if number == BLOCKS - 1 else 0))
            for number in range(BLOCKS)
        ]


def list_experiments() -> tuple[Experiment, ...]:
    """Return the experiments in their order."""
    pairs = itertools.product(CONNECTIONS, RATES)
    return tuple(
        Experiment(START + number * (SECONDS + PAUSE), connections, rate)
        for number, (connections, rate) in enumerate(pairs)
    )


def write_testnet(run: Path, nodes: int) -> None:
    """Write a run of a testnet into a new folder."""
    experiments = list_experiments()
    (run / "report").mkdir(parents=True)
    (run / "prom").mkdir()
    with gzip.open(run / "report" / "raw.csv.gz", "wt", compresslevel=3) as file:
        file.write(HEAD)
        file.writelines(_iter_transactions(experiments))
    result = [item for node in range(nodes) for item in _iter_series(node, experiments)]
    with gzip.open(run / "prom" / "raw.json.gz", "wt", compresslevel=3) as file:
        json.dump({"status": "success", "data": {"resultType": "matrix", "result": result}}, file)
    (run / "meta.json").write_text(json.dumps({"ident": f"{nodes} nodes"}), encoding="utf-8")


def _iter_transactions(experiments: Sequence[Experiment]) -> Iterator[str]:
    """Yield the rows of the load tool: each transaction waits for its block."""
    number = 0
    for index, experiment in enumerate(experiments):
        facts = f"{experiment.connections},{experiment.rate},1024"
        for place, (time, count) in enumerate(experiment.list_blocks()):
            for position in range(count):
                latency = time - experiment.start - min(SECONDS - 1, place * 2.5) - position % 90 / 100 + 1.5
                yield f"experiment-{index},{int(time * 1e9)},{int(max(latency, 0.1) * 1e9)},{number:064X},{facts}\n"
                number += 1


def _iter_series(node: int, experiments: Sequence[Experiment]) -> Iterator[dict[str, object]]:
    """Yield the series of a node and of its machine, as a Prometheus server answers."""
    noise = random.Random(SEED + node)
    lag = noise.random()
    blocks = [block for experiment in experiments for block in experiment.list_blocks()]
    times, totals = [time for time, _ in blocks], [0, *itertools.accumulate(count for _, count in blocks)]
    values: dict[str, Value] = {
        "cometbft_consensus_height": lambda t: 10 + bisect.bisect(times, t - lag) + (t - START) // 8,
        "cometbft_consensus_total_txs": lambda t: totals[bisect.bisect(times, t - lag)],
        "cometbft_mempool_size": lambda t: (
            round(1500 + 500 * math.sin(t / 7 + node))
            if any(item.start <= t < item.start + SECONDS for item in experiments)
            else 0
        ),
        "cometbft_p2p_peers": lambda _: 20 + node % 50,
        "cometbft_consensus_rounds": lambda t: float((t + node) % 911 == 0),
        "process_resident_memory_bytes": lambda t: round(9e8 + 3e8 * math.sin(t / 60 + node) + noise.gauss(0, 2e7)),
        "node_load1": lambda t: round(2 + 1.5 * math.sin(t / 40 + node), 2),
    }
    steps = range(START - 20, experiments[-1].start + SECONDS + PAUSE, SAMPLE_INTERVAL)
    for name, value in values.items():
        job, port = (f"validator{node:03}", 26660) if name != "node_load1" else (f"validator{node:03}-exporter", 9100)
        labels = {"__name__": name, "job": job, "instance": f"{job}:{port}"}
        yield {"metric": labels, "values": [[time + 0.1, str(value(time))] for time in steps]}
