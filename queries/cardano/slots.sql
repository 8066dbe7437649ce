-- The slots of each host, with their values at the end of the slot.
-- Resources: a slot has the values of its last `resources` event. Without one it has the last shares of a core and the
-- last gauges (0 before any), and 0 for all counters; an opening slot without one has no values.
-- Density and UTxO size: from the last record of the slot, else 0; a gap slot starts with those of the slot before it.
-- Compatibility: the opening slot counts as epoch 0, epoch slot 0, safe interval 0; `true_epoch_slot` is the true one.
WITH several AS (
    SELECT host, slot, max(seq) AS seq
    FROM resource_usage
    GROUP BY host, slot
    HAVING count(*) > 1
),

last_usage AS (
    SELECT resource_usage.*
    FROM resource_usage
    LEFT JOIN several ON several.host = resource_usage.host AND several.slot = resource_usage.slot
    WHERE several.seq IS NULL OR several.seq = resource_usage.seq
),

-- Slots without an event of their own are few, so their values are looked up separately.
earlier AS (
    SELECT missing.host, missing.slot, places.seq
    FROM (
        SELECT timeline.host, timeline.slot, timeline.reached_seq
        FROM timeline
        ANTI JOIN resource_usage ON resource_usage.host = timeline.host AND resource_usage.slot = timeline.slot
    ) AS missing
    ASOF JOIN (SELECT host, seq FROM resource_usage) AS places
        ON places.host = missing.host AND places.seq < missing.reached_seq
),

carried AS (
    SELECT
        earlier.host,
        earlier.slot,
        usage.cpu,
        usage.gc,
        usage.mut,
        usage.blk_io,
        usage.rss,
        usage.heap,
        usage.live,
        usage.threads
    FROM earlier
    INNER JOIN resource_usage AS usage ON usage.host = earlier.host AND usage.seq = earlier.seq
),

-- A leadership check has each of the two only if it is above 0; ledger metrics, which belong to the latest slot,
-- always.
recorded AS (
    SELECT
        host,
        slot,
        seq,
        CASE WHEN chain_density > 0 THEN chain_density END AS density,
        CASE WHEN utxo_size > 0 THEN utxo_size END AS utxo
    FROM leadership_check_started
    WHERE t_ns >= $system_start
    UNION ALL
    SELECT
        metrics.host,
        reached.slot,
        metrics.seq,
        metrics.chain_density AS density,
        metrics.utxo_size AS utxo
    FROM ledger_metrics AS metrics
    ASOF JOIN (SELECT host, slot, reached_seq FROM timeline WHERE kind <> 'gap') AS reached
        ON reached.host = metrics.host AND reached.reached_seq < metrics.seq
    WHERE metrics.t_ns >= $system_start
),

gaps AS (
    SELECT host, slot, before, reached_seq
    FROM timeline
    WHERE kind = 'gap'
),

densities AS (
    SELECT host, slot, seq, density
    FROM recorded
    SEMI JOIN gaps ON gaps.host = recorded.host AND gaps.before = recorded.slot
    WHERE density IS NOT NULL
),

utxos AS (
    SELECT host, slot, seq, utxo
    FROM recorded
    SEMI JOIN gaps ON gaps.host = recorded.host AND gaps.before = recorded.slot
    WHERE utxo IS NOT NULL
),

last_recorded AS (
    SELECT
        host,
        slot,
        max_by(density, seq) FILTER (WHERE density IS NOT NULL) AS density,
        max_by(utxo, seq) FILTER (WHERE utxo IS NOT NULL) AS utxo
    FROM recorded
    GROUP BY host, slot
),

-- The values of the slot before a gap when the gap was skipped.
inherited AS (
    SELECT gaps.host, gaps.slot, densities.density, utxos.utxo
    FROM gaps
    ASOF LEFT JOIN densities
        ON densities.host = gaps.host AND densities.slot = gaps.before AND densities.seq < gaps.reached_seq
    ASOF LEFT JOIN utxos
        ON utxos.host = gaps.host AND utxos.slot = gaps.before AND utxos.seq < gaps.reached_seq
),

slot_values AS (
    SELECT
        timeline.host,
        timeline.slot,
        timeline.kind = 'opening' AS opens,
        last_usage.seq IS NOT NULL AS used,
        coalesce(last_recorded.density, inherited.density, 0) AS density,
        coalesce(last_recorded.utxo, inherited.utxo, 0) AS utxo,
        block_gaps.block_gap,
        coalesce(last_usage.cpu, carried.cpu, 0) AS cpu,
        coalesce(last_usage.gc, carried.gc, 0) AS gc,
        coalesce(last_usage.mut, carried.mut, 0) AS mut,
        coalesce(last_usage.blk_io, carried.blk_io, 0) AS blk_io,
        coalesce(last_usage.rss, carried.rss, 0) AS rss,
        coalesce(last_usage.heap, carried.heap, 0) AS heap,
        coalesce(last_usage.live, carried.live, 0) AS live,
        coalesce(last_usage.threads, carried.threads, 0) AS threads,
        last_usage.gcs_major,
        last_usage.gcs_minor,
        last_usage.alloc,
        last_usage.net_rd,
        last_usage.net_wr,
        last_usage.fs_rd,
        last_usage.fs_wr
    FROM timeline
    LEFT JOIN block_gaps ON block_gaps.host = timeline.host AND block_gaps.slot = timeline.slot
    LEFT JOIN last_recorded ON last_recorded.host = timeline.host AND last_recorded.slot = timeline.slot
    LEFT JOIN inherited ON inherited.host = timeline.host AND inherited.slot = timeline.slot
    LEFT JOIN carried ON carried.host = timeline.host AND carried.slot = timeline.slot
    LEFT JOIN last_usage ON last_usage.host = timeline.host AND last_usage.slot = timeline.slot
)

SELECT
    host,
    slot,
    CASE WHEN opens THEN 0 ELSE slot // $epoch_length END AS epoch,
    CASE WHEN opens THEN 0 ELSE slot % $epoch_length END AS epoch_slot,
    slot % $epoch_length AS true_epoch_slot,
    CASE
        WHEN opens THEN 0
        ELSE floor((slot % $epoch_length)::DOUBLE / $security_parameter * $active_slots)::BIGINT
    END AS safe_interval,
    density,
    utxo,
    block_gap,
    CASE WHEN used OR NOT opens THEN cpu END AS cpu,
    CASE WHEN used OR NOT opens THEN gc END AS gc,
    CASE WHEN used OR NOT opens THEN mut END AS mut,
    CASE WHEN used OR NOT opens THEN blk_io END AS blk_io,
    CASE WHEN used OR NOT opens THEN rss END AS rss,
    CASE WHEN used OR NOT opens THEN heap END AS heap,
    CASE WHEN used OR NOT opens THEN live END AS live,
    CASE WHEN used OR NOT opens THEN threads END AS threads,
    CASE WHEN used THEN gcs_major WHEN NOT opens THEN 0 END AS gcs_major,
    CASE WHEN used THEN gcs_minor WHEN NOT opens THEN 0 END AS gcs_minor,
    CASE WHEN used THEN alloc WHEN NOT opens THEN 0 END AS alloc,
    CASE WHEN used THEN net_rd WHEN NOT opens THEN 0 END AS net_rd,
    CASE WHEN used THEN net_wr WHEN NOT opens THEN 0 END AS net_wr,
    CASE WHEN used THEN fs_rd WHEN NOT opens THEN 0 END AS fs_rd,
    CASE WHEN used THEN fs_wr WHEN NOT opens THEN 0 END AS fs_wr
FROM slot_values
