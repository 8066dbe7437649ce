-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE slots AS
/* The slots of each host, with their values at the end of the slot. */
/* Resources: a slot has the values of its last `resources` event. Without one it has the last shares of a core and the */
/* last gauges (0 before any), and 0 for all counters; an opening slot without one has no values. */
/* Density and UTxO size: from the last record of the slot, else 0; a gap slot starts with those of the slot before it. */
/* Compatibility: the opening slot counts as epoch 0, epoch slot 0, safe interval 0; `true_epoch_slot` is the true one. */
WITH several AS (
  SELECT
    host,
    slot,
    MAX(seq) AS seq
  FROM resource_usage
  GROUP BY
    host,
    slot
  HAVING
    COUNT(*) > 1
), last_usage AS (
  SELECT
    resource_usage.*
  FROM resource_usage
  LEFT JOIN several
    ON several.host = resource_usage.host AND several.slot = resource_usage.slot
  WHERE
    several.seq IS NULL OR several.seq = resource_usage.seq
), earlier /* Slots without an event of their own are few, so their values are looked up separately. */ AS (
  SELECT
    missing.host,
    missing.slot,
    places.seq
  FROM (
    SELECT
      timeline.host,
      timeline.slot,
      timeline.reached_seq
    FROM timeline
    ANTI JOIN resource_usage
      ON resource_usage.host = timeline.host AND resource_usage.slot = timeline.slot
  ) AS missing
  ASOF JOIN (
    SELECT
      host,
      seq
    FROM resource_usage
  ) AS places
    ON places.host = missing.host AND places.seq < missing.reached_seq
), carried AS (
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
  INNER JOIN resource_usage AS usage
    ON usage.host = earlier.host AND usage.seq = earlier.seq
), recorded /* A leadership check has each of the two only if it is above 0; ledger metrics, which belong to the latest slot, */ /* always. */ AS (
  SELECT
    host,
    slot,
    seq,
    CASE WHEN chain_density > 0 THEN chain_density END AS density,
    CASE WHEN utxo_size > 0 THEN utxo_size END AS utxo
  FROM leadership_check_started
  WHERE
    t_ns >= $system_start
  UNION ALL
  SELECT
    metrics.host,
    reached.slot,
    metrics.seq,
    metrics.chain_density AS density,
    metrics.utxo_size AS utxo
  FROM ledger_metrics AS metrics
  ASOF JOIN (
    SELECT
      host,
      slot,
      reached_seq
    FROM timeline
    WHERE
      kind <> 'gap'
  ) AS reached
    ON reached.host = metrics.host AND reached.reached_seq < metrics.seq
  WHERE
    metrics.t_ns >= $system_start
), gaps AS (
  SELECT
    host,
    slot,
    before,
    reached_seq
  FROM timeline
  WHERE
    kind = 'gap'
), densities AS (
  SELECT
    host,
    slot,
    seq,
    density
  FROM recorded
  SEMI JOIN gaps
    ON gaps.host = recorded.host AND gaps.before = recorded.slot
  WHERE
    NOT density IS NULL
), utxos AS (
  SELECT
    host,
    slot,
    seq,
    utxo
  FROM recorded
  SEMI JOIN gaps
    ON gaps.host = recorded.host AND gaps.before = recorded.slot
  WHERE
    NOT utxo IS NULL
), last_recorded AS (
  SELECT
    host,
    slot,
    ARG_MAX(density, seq) FILTER(WHERE
      NOT density IS NULL) AS density,
    ARG_MAX(utxo, seq) FILTER(WHERE
      NOT utxo IS NULL) AS utxo
  FROM recorded
  GROUP BY
    host,
    slot
), inherited /* The values of the slot before a gap when the gap was skipped. */ AS (
  SELECT
    gaps.host,
    gaps.slot,
    densities.density,
    utxos.utxo
  FROM gaps
  ASOF LEFT JOIN densities
    ON densities.host = gaps.host
    AND densities.slot = gaps.before
    AND densities.seq < gaps.reached_seq
  ASOF LEFT JOIN utxos
    ON utxos.host = gaps.host
    AND utxos.slot = gaps.before
    AND utxos.seq < gaps.reached_seq
), slot_values AS (
  SELECT
    timeline.host,
    timeline.slot,
    timeline.kind = 'opening' AS opens,
    NOT last_usage.seq IS NULL AS used,
    COALESCE(last_recorded.density, inherited.density, 0) AS density,
    COALESCE(last_recorded.utxo, inherited.utxo, 0) AS utxo,
    block_gaps.block_gap,
    COALESCE(last_usage.cpu, carried.cpu, 0) AS cpu,
    COALESCE(last_usage.gc, carried.gc, 0) AS gc,
    COALESCE(last_usage.mut, carried.mut, 0) AS mut,
    COALESCE(last_usage.blk_io, carried.blk_io, 0) AS blk_io,
    COALESCE(last_usage.rss, carried.rss, 0) AS rss,
    COALESCE(last_usage.heap, carried.heap, 0) AS heap,
    COALESCE(last_usage.live, carried.live, 0) AS live,
    COALESCE(last_usage.threads, carried.threads, 0) AS threads,
    last_usage.gcs_major,
    last_usage.gcs_minor,
    last_usage.alloc,
    last_usage.net_rd,
    last_usage.net_wr,
    last_usage.fs_rd,
    last_usage.fs_wr
  FROM timeline
  LEFT JOIN block_gaps
    ON block_gaps.host = timeline.host AND block_gaps.slot = timeline.slot
  LEFT JOIN last_recorded
    ON last_recorded.host = timeline.host AND last_recorded.slot = timeline.slot
  LEFT JOIN inherited
    ON inherited.host = timeline.host AND inherited.slot = timeline.slot
  LEFT JOIN carried
    ON carried.host = timeline.host AND carried.slot = timeline.slot
  LEFT JOIN last_usage
    ON last_usage.host = timeline.host AND last_usage.slot = timeline.slot
)
SELECT
  host,
  slot,
  CASE WHEN opens THEN 0 ELSE slot // $epoch_length END AS epoch,
  CASE WHEN opens THEN 0 ELSE slot % $epoch_length END AS epoch_slot,
  slot % $epoch_length AS true_epoch_slot,
  CASE
    WHEN opens
    THEN 0
    ELSE CAST(FLOOR(CAST((
      slot % $epoch_length
    ) AS DOUBLE) / $security_parameter * $active_slots) AS BIGINT)
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
FROM slot_values;
