-- The slots of each host, with what each held at its end.
-- Resources: a slot has the values of its last `resources` event. Without one it has the last shares of a core and the
-- last gauges (0 before any), and 0 for all that is counted; an opening slot without one has none.
-- Density and UTxO size: as last told in the slot, 0 otherwise; a gap slot begins with those of the slot before the gap.
-- Compatibility: the opening slot counts as epoch 0, epoch slot 0, safe interval 0; `true_epoch_slot` is the true one.
WITH last_usage AS (
    SELECT host, slot, max(seq) AS seq
    FROM resource_usage
    GROUP BY host, slot
),

-- the event whose values a slot has
sources AS (
    SELECT
        timeline.host,
        timeline.slot,
        timeline.kind,
        last_usage.seq IS NOT NULL AS used,
        coalesce(last_usage.seq, earlier.seq) AS seq
    FROM timeline
    LEFT JOIN last_usage ON last_usage.host = timeline.host AND last_usage.slot = timeline.slot
    ASOF LEFT JOIN resource_usage AS earlier ON earlier.host = timeline.host AND earlier.seq < timeline.reached_seq
),

-- a check tells each of the two only when it is above 0; ledger metrics, which belong to the latest slot, always do
told AS (
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
    FROM told
    SEMI JOIN gaps ON gaps.host = told.host AND gaps.before = told.slot
    WHERE density IS NOT NULL
),

utxos AS (
    SELECT host, slot, seq, utxo
    FROM told
    SEMI JOIN gaps ON gaps.host = told.host AND gaps.before = told.slot
    WHERE utxo IS NOT NULL
),

last_told AS (
    SELECT
        host,
        slot,
        max_by(density, seq) FILTER (WHERE density IS NOT NULL) AS density,
        max_by(utxo, seq) FILTER (WHERE utxo IS NOT NULL) AS utxo
    FROM told
    GROUP BY host, slot
),

-- what the slot before a gap had when the gap was jumped over
inherited AS (
    SELECT gaps.host, gaps.slot, densities.density, utxos.utxo
    FROM gaps
    ASOF LEFT JOIN densities
        ON densities.host = gaps.host AND densities.slot = gaps.before AND densities.seq < gaps.reached_seq
    ASOF LEFT JOIN utxos
        ON utxos.host = gaps.host AND utxos.slot = gaps.before AND utxos.seq < gaps.reached_seq
),

held AS (
    SELECT
        sources.host,
        sources.slot,
        sources.kind,
        sources.used OR sources.kind <> 'opening' AS known,
        coalesce(resource_usage.cpu, 0) AS cpu,
        coalesce(resource_usage.gc, 0) AS gc,
        coalesce(resource_usage.mut, 0) AS mut,
        coalesce(resource_usage.blk_io, 0) AS blk_io,
        coalesce(resource_usage.rss, 0) AS rss,
        coalesce(resource_usage.heap, 0) AS heap,
        coalesce(resource_usage.live, 0) AS live,
        coalesce(resource_usage.threads, 0) AS threads,
        CASE WHEN sources.used THEN resource_usage.gcs_major ELSE 0 END AS gcs_major,
        CASE WHEN sources.used THEN resource_usage.gcs_minor ELSE 0 END AS gcs_minor,
        CASE WHEN sources.used THEN resource_usage.alloc ELSE 0 END AS alloc,
        CASE WHEN sources.used THEN resource_usage.net_rd ELSE 0 END AS net_rd,
        CASE WHEN sources.used THEN resource_usage.net_wr ELSE 0 END AS net_wr,
        CASE WHEN sources.used THEN resource_usage.fs_rd ELSE 0 END AS fs_rd,
        CASE WHEN sources.used THEN resource_usage.fs_wr ELSE 0 END AS fs_wr
    FROM sources
    LEFT JOIN resource_usage ON resource_usage.host = sources.host AND resource_usage.seq = sources.seq
)

SELECT
    held.host,
    held.slot,
    CASE WHEN held.kind = 'opening' THEN 0 ELSE held.slot // $epoch_length END AS epoch,
    CASE WHEN held.kind = 'opening' THEN 0 ELSE held.slot % $epoch_length END AS epoch_slot,
    held.slot % $epoch_length AS true_epoch_slot,
    CASE
        WHEN held.kind = 'opening' THEN 0
        ELSE floor((held.slot % $epoch_length)::DOUBLE / $security_parameter * $active_slots)::BIGINT
    END AS safe_interval,
    coalesce(last_told.density, inherited.density, 0) AS density,
    coalesce(last_told.utxo, inherited.utxo, 0) AS utxo,
    block_gaps.block_gap,
    CASE WHEN held.known THEN held.cpu END AS cpu,
    CASE WHEN held.known THEN held.gc END AS gc,
    CASE WHEN held.known THEN held.mut END AS mut,
    CASE WHEN held.known THEN held.blk_io END AS blk_io,
    CASE WHEN held.known THEN held.rss END AS rss,
    CASE WHEN held.known THEN held.heap END AS heap,
    CASE WHEN held.known THEN held.live END AS live,
    CASE WHEN held.known THEN held.threads END AS threads,
    CASE WHEN held.known THEN held.gcs_major END AS gcs_major,
    CASE WHEN held.known THEN held.gcs_minor END AS gcs_minor,
    CASE WHEN held.known THEN held.alloc END AS alloc,
    CASE WHEN held.known THEN held.net_rd END AS net_rd,
    CASE WHEN held.known THEN held.net_wr END AS net_wr,
    CASE WHEN held.known THEN held.fs_rd END AS fs_rd,
    CASE WHEN held.known THEN held.fs_wr END AS fs_wr
FROM held
INNER JOIN block_gaps ON block_gaps.host = held.host AND block_gaps.slot = held.slot
LEFT JOIN last_told ON last_told.host = held.host AND last_told.slot = held.slot
LEFT JOIN inherited ON inherited.host = held.host AND inherited.slot = held.slot
