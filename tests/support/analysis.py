"""Convert the compiler's results of a run to an analysis of the oracle, so that both are compared alike.

Numbers are those of the compiler under test: integers stay integers if the metric has the unit of its samples;
durations are seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.engine import results
from assay.engine.results import Distribution as Ours
from assay.engine.results import HostRow as OurHostRow
from assay.sql import dialect
from assay.sql.expressions import Names, compile_expression
from tests.oracle import Analysis, BlockRow, Centile, Condition, Distribution, HostRow, Observation, Spread
from tests.oracle.charts import UNPLOTTED
from tests.oracle.distribution import CENTILES, compute_equicentiles, compute_order_statistic
from tests.oracle.propagation import DURATIONS
from tests.support.cases import FILTERS
from tests.support.laboratory import ExaminedRun

Number = int | float
#: grains whose metrics the incumbent lacks; tests of listings and of activity compare these with the oracle
OWN_GRAINS = ("block_on_host", "host_slot", "snapshot_record")
FORGER_METRICS = tuple(name for name in DURATIONS if name.startswith("cdfForger"))


def build_analysis(examined: ExaminedRun, conditions: Sequence[Condition]) -> Analysis:
    """Return the compiler's results of a run under filters, in the oracle's form."""
    own_ids = list_own_metrics(examined)
    per_host = {
        name: _load_host_rows(examined, name) for name in _list_cluster_metrics(examined) if name not in own_ids
    }
    document = examined.build_results_json()
    chain = _build_chain(examined, conditions)
    return Analysis(
        metrics={
            name: _build_distribution(distribution, per_host.get(name))
            for name, distribution in examined.results.metrics.items()
            if name not in own_ids
        },
        chain=chain,
        manifest=_build_manifest(examined, document["manifest"]),
        chart_points={
            name: _get_points(examined, metric)
            for name, metric in document["metrics"].items()
            if name not in UNPLOTTED | own_ids
        },
        hosts=_build_host_rows(examined),
        host_metrics=_build_host_metrics(examined, per_host),
        rejections=_count_rejections(examined, conditions),
    )


def list_own_metrics(examined: ExaminedRun) -> frozenset[str]:
    """Return the metrics that the incumbent and the oracle do not have."""
    return frozenset(metric.id for metric in examined.plan.metrics if metric.grain in OWN_GRAINS)


def _list_cluster_metrics(examined: ExaminedRun) -> list[str]:
    return [metric.id for metric in examined.plan.metrics if metric.per]


def _load_host_rows(examined: ExaminedRun, name: str) -> dict[str, OurHostRow]:
    return {row[0]: results.read_host_row(row[1:]) for row in examined.query_metric_rows(name)}


def _convert_value(distribution: Ours, raw: Number) -> Number:
    """Return a measured number in the metric's unit; without a conversion, integers stay integers."""
    return raw if distribution.integral and distribution.factor == 1 else distribution.scale_value(raw)


def _select_printed(distribution: Ours, printed: float, raw: Number | None) -> Number:
    """Return the measured integer if results print exactly its double, else the printed number."""
    assert raw is not None
    return _convert_value(distribution, raw) if printed == distribution.scale_value(raw) else printed


def _build_distribution(distribution: Ours, hosts: Mapping[str, OurHostRow] | None) -> Distribution:
    first, last, middle = distribution.centiles[0], distribution.centiles[-1], distribution.centiles[results.MEDIAN]
    return Distribution(
        size=distribution.size,
        average_published=distribution.averages["published"],
        average_hosts=distribution.averages["mean-of-hosts"],
        median=_select_printed(distribution, distribution.median, middle.value),
        stddev=distribution.stddevs["published"],
        min=_select_printed(distribution, distribution.least, first.low if hosts else first.value),
        max=_select_printed(distribution, distribution.greatest, last.high if hosts else last.value),
        centiles=tuple(_build_centile(distribution, item) for item in distribution.centiles),
        is_cluster=hosts is not None,
        spreads=tuple(_build_spread(distribution, hosts, index) for index in range(len(CENTILES))) if hosts else (),
    )


def _build_centile(distribution: Ours, item: results.Centile) -> Centile:
    ends = (item.low, item.high)
    return Centile(
        item.centile,
        _convert_value(distribution, item.value),
        *(None if x is None else _convert_value(distribution, x) for x in ends),
    )


def _build_spread(distribution: Ours, hosts: Mapping[str, OurHostRow], index: int) -> Spread:
    """Return the spread of hosts at a centile: the compiler's deviation, and mean and order of its rows."""
    values = sorted(row.centiles[index] for row in hosts.values())
    deviation = distribution.centiles[index].deviation
    assert deviation is not None
    positions = compute_equicentiles(max(7, len(values)))
    samples = tuple((c, _convert_value(distribution, compute_order_statistic(values, c))) for c in positions)
    mean = (
        float(sum(values) * distribution.factor / len(values)) if distribution.integral else sum(values) / len(values)
    )
    return Spread(mean, deviation * distribution.factor.numerator / distribution.factor.denominator, samples)


def _build_host_metrics(
    examined: ExaminedRun, per_host: Mapping[str, Mapping[str, OurHostRow]]
) -> dict[str, dict[str, Distribution]]:
    package, distributions = examined.checked.package, examined.results.metrics
    hosts = [log.host for log in examined.prepared.logs]
    return {
        host: {
            name: _build_distribution(
                results.summarize_pooled(
                    rows[host], package.summaries, distributions[name].factor, distributions[name].integral
                ),
                None,
            )
            for name, rows in per_host.items()
        }
        for host in hosts
    }


def _get_points(examined: ExaminedRun, metric: Mapping[str, Any]) -> list[list[str]]:
    rows: list[list[str]] = metric["runs"][examined.prepared.run.id]["points"]
    return rows


def _build_manifest(examined: ExaminedRun, manifests: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts by label; day and time are texts."""
    facts = manifests[examined.prepared.run.id]
    actual_cells = {row.label: facts[row.id] for row in examined.report.manifest if row.built != "analysis date"}
    moments = ("Cluster system start date", "Cluster system start time")
    cells = examined.manifest_cells
    return {**actual_cells, **{name: cells[name] for name in moments}}


def _build_host_rows(examined: ExaminedRun) -> tuple[HostRow, ...]:
    """Return counts by host. Broken objects are quarantined by the compiler and text to the oracle."""
    quarantine = str(examined.prepared.folders[0] / "quarantine.parquet")
    rows = examined.query_rows(
        """
        SELECT logs.host, lines, objects, recognised,
               (SELECT count(*) FROM read_parquet(?) AS lost WHERE lost.host = logs.host AND reason <> 'not JSON')
               AS quarantined, first_ns AS first, last_ns AS last,
               total AS blocks_forged, chained AS blocks_chained, filtered AS blocks_accepted,
               (SELECT count(*) FROM slot WHERE slot.host = logs.host AND accepted) AS slots, first_slot, last_slot
        FROM logs
        JOIN forging_hosts USING (host)
        JOIN slot_extents USING (host)
        ORDER BY logs.host
        """,
        quarantine,
    )
    return tuple(HostRow(**row) for row in rows)


def _count_rejections(examined: ExaminedRun, conditions: Sequence[Condition]) -> dict[Condition, int]:
    """Return blocks that failed each condition, without conditions that all blocks pass."""
    filters = [item for item in examined.results.filters if item.grain == "block"]
    assert [item.filter for item in filters] == [FILTERS[c.name] for c in conditions]
    return {c: item.rejected for c, item in zip(conditions, filters, strict=True) if item.rejected}


def _build_chain(examined: ExaminedRun, conditions: Sequence[Condition]) -> tuple[BlockRow, ...]:
    computed_columns = _compute_columns(examined)
    observations = _load_observations(examined)
    delays = _load_delays(examined)
    rivals = {
        row["block"]: tuple(row["others"])
        for row in examined.query_rows(
            """
            SELECT chain.block, list(DISTINCT blocks.block ORDER BY blocks.block) AS others
            FROM chain JOIN blocks ON blocks.block_no = chain.block_no AND blocks.block <> chain.block
            GROUP BY chain.block
            """
        )
    }
    return tuple(
        _build_block_row({**row, **computed_columns[row["block"]]}, conditions, rivals, observations, delays)
        for row in examined.query_rows("SELECT * FROM block ORDER BY block_no")
    )


def _build_block_row(
    row: Mapping[str, Any],
    conditions: Sequence[Condition],
    rivals: Mapping[str, tuple[str, ...]],
    observations: Mapping[str, Sequence[Observation]],
    delays: Mapping[str, tuple[int, ...]],
) -> BlockRow:
    block = row["block"]
    others = rivals.get(block, ())
    assert row["battles"] == len(others)
    verdicts = tuple((c, row[f"passes_{index}"]) for index, c in enumerate(conditions, start=1))
    assert row["accepted"] == all(verdict for _, verdict in verdicts)
    return BlockRow(
        block_no=row["block_no"],
        block=block,
        previous=row["block_prev"],
        slot=row["slot"],
        epoch=row["epoch"],
        safe_interval=row["safe_interval"],
        forger=row["forger"],
        size=row["size"],
        chain_delta=row["adopted_chain_delta"] or 0,
        durations={name: row[name] for name in FORGER_METRICS},
        other_blocks=others,
        observations=tuple(observations.get(block, ())),
        adoption_delays=delays[block],
        acceptance=verdicts,
    )


def _compute_columns(examined: ExaminedRun) -> dict[str, dict[str, Any]]:
    """Return epoch, safe interval and forger metrics by block, also if no filter reads them."""
    names = Names(constants=examined.prepared.constants)
    block = next(grain for grain in examined.checked.package.grains if grain.name == "block")
    expressions = {
        item.column.name: item.value for item in block.derived if item.column.name in ("epoch", "safe_interval")
    }
    expressions |= {name: examined.checked.get_metric(name).measure for name in FORGER_METRICS}
    columns = ", ".join(
        f'{dialect.to_sql(compile_expression(node, names))} AS "{name}"' for name, node in expressions.items()
    )
    rows = examined.query_rows(f"SELECT block, {columns} FROM block")
    return {row["block"]: row for row in rows}


def _load_observations(examined: ExaminedRun) -> dict[str, list[Observation]]:
    rows = examined.query_rows(
        """
        SELECT block, host, noticed - slot_start AS noticed, requested - noticed AS requested,
               fetched - requested AS fetched, announced - fetched AS announced, sending - fetched AS sending,
               adopted - fetched AS adopted, greatest(chain_delta, 0) AS chain_delta, valid
        FROM observation
        WHERE complete
        ORDER BY block, host
        """
    )
    by_block: dict[str, list[Observation]] = {}
    for row in rows:
        by_block.setdefault(row.pop("block"), []).append(Observation(**row))
    return by_block


def _load_delays(examined: ExaminedRun) -> dict[str, tuple[int, ...]]:
    """Return adoption delays by block; a block that nobody adopted has none."""
    rows = examined.query_rows(
        """
        SELECT adoptions.block, list(adoptions.adopted - adoptions.slot_start ORDER BY adoptions.adopted) AS delays,
               bool_or(block.adopted IS NOT NULL OR observation.adopted IS NOT NULL) AS adopted
        FROM adoptions
        JOIN block ON block.block = adoptions.block
        LEFT JOIN observation ON observation.block = adoptions.block AND observation.host = adoptions.host
        GROUP BY adoptions.block
        """
    )
    return {row["block"]: tuple(row["delays"]) if row["adopted"] else () for row in rows}
