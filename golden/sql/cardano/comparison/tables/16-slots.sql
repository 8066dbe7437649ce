-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE slots AS
/* The slots of each host, with what each held at its end. */
/* Resources: a slot has the values of its last `resources` event. Without one it has the last shares of a core and the */
/* last gauges (0 before any), and 0 for all that is counted; an opening slot without one has none. */
/* Density and UTxO size: as last told in the slot, 0 otherwise; a gap slot begins with those of the slot before the gap. */
/* Compatibility: the opening slot counts as epoch 0, epoch slot 0, safe interval 0; `true_epoch_slot` is the true one. */
WITH last_usage AS (
  SELECT
    host,
    slot,
    MAX(seq) AS seq
  FROM resource_usage
  GROUP BY
    host,
    slot
), usage AS (
  SELECT
    resource_usage.*
  FROM resource_usage
  INNER JOIN last_usage
    ON last_usage.host = resource_usage.host AND last_usage.seq = resource_usage.seq
), told /* a check tells each of the two only when it is above 0; ledger metrics, which belong to the latest slot, always do */ AS (
  SELECT
    host,
    slot,
    seq,
    CASE WHEN chain_density > 0 THEN chain_density END AS density,
    CASE WHEN utxo_size > 0 THEN utxo_size END AS utxo
  FROM slot_marks
  WHERE
    mark = 'started'
  UNION ALL
  SELECT
    metrics.host,
    COALESCE(slot_marks.latest, openings.slot) AS slot,
    metrics.seq,
    metrics.chain_density AS density,
    metrics.utxo_size AS utxo
  FROM ledger_metrics AS metrics
  ASOF LEFT JOIN slot_marks
    ON slot_marks.host = metrics.host AND slot_marks.seq < metrics.seq
  INNER JOIN openings
    ON openings.host = metrics.host
  WHERE
    metrics.t_ns >= $system_start
), densities AS (
  SELECT
    host,
    slot,
    seq,
    density
  FROM told
  WHERE
    NOT density IS NULL
), utxos AS (
  SELECT
    host,
    slot,
    seq,
    utxo
  FROM told
  WHERE
    NOT utxo IS NULL
), last_told AS (
  SELECT
    host,
    slot,
    ARG_MAX(density, seq) FILTER(WHERE
      NOT density IS NULL) AS density,
    ARG_MAX(utxo, seq) FILTER(WHERE
      NOT utxo IS NULL) AS utxo
  FROM told
  GROUP BY
    host,
    slot
), inherited /* what the slot before a gap had when the gap was jumped over */ AS (
  SELECT
    gaps.host,
    gaps.slot,
    densities.density,
    utxos.utxo
  FROM (
    SELECT
      host,
      slot,
      before,
      reached_seq
    FROM timeline
    WHERE
      kind = 'gap'
  ) AS gaps
  ASOF LEFT JOIN densities
    ON densities.host = gaps.host
    AND densities.slot = gaps.before
    AND densities.seq < gaps.reached_seq
  ASOF LEFT JOIN utxos
    ON utxos.host = gaps.host
    AND utxos.slot = gaps.before
    AND utxos.seq < gaps.reached_seq
), held AS (
  SELECT
    timeline.host,
    timeline.slot,
    timeline.kind,
    NOT usage.seq IS NULL AS used,
    CASE WHEN usage.seq IS NULL THEN COALESCE(earlier.cpu, 0) ELSE usage.cpu END AS cpu,
    CASE WHEN usage.seq IS NULL THEN COALESCE(earlier.gc, 0) ELSE usage.gc END AS gc,
    CASE WHEN usage.seq IS NULL THEN COALESCE(earlier.mut, 0) ELSE usage.mut END AS mut,
    CASE WHEN usage.seq IS NULL THEN COALESCE(earlier.blk_io, 0) ELSE usage.blk_io END AS blk_io,
    CASE WHEN usage.seq IS NULL THEN COALESCE(earlier.rss, 0) ELSE usage.rss END AS rss,
    CASE WHEN usage.seq IS NULL THEN COALESCE(earlier.heap, 0) ELSE usage.heap END AS heap,
    CASE WHEN usage.seq IS NULL THEN COALESCE(earlier.live, 0) ELSE usage.live END AS live,
    CASE WHEN usage.seq IS NULL THEN COALESCE(earlier.threads, 0) ELSE usage.threads END AS threads,
    COALESCE(usage.gcs_major, 0) AS gcs_major,
    COALESCE(usage.gcs_minor, 0) AS gcs_minor,
    COALESCE(usage.alloc, 0) AS alloc,
    COALESCE(usage.net_rd, 0) AS net_rd,
    COALESCE(usage.net_wr, 0) AS net_wr,
    COALESCE(usage.fs_rd, 0) AS fs_rd,
    COALESCE(usage.fs_wr, 0) AS fs_wr
  FROM timeline
  LEFT JOIN usage
    ON usage.host = timeline.host AND usage.slot = timeline.slot
  ASOF LEFT JOIN resource_usage AS earlier
    ON earlier.host = timeline.host AND earlier.seq < timeline.reached_seq
)
SELECT
  held.host,
  held.slot,
  CASE WHEN held.kind = 'opening' THEN 0 ELSE held.slot // $epoch_length END AS epoch,
  CASE WHEN held.kind = 'opening' THEN 0 ELSE held.slot % $epoch_length END AS epoch_slot,
  held.slot % $epoch_length AS true_epoch_slot,
  CASE
    WHEN held.kind = 'opening'
    THEN 0
    ELSE CAST(FLOOR(
      CAST((
        held.slot % $epoch_length
      ) AS DOUBLE) / $security_parameter * $active_slots
    ) AS BIGINT)
  END AS safe_interval,
  COALESCE(last_told.density, inherited.density, 0) AS density,
  COALESCE(last_told.utxo, inherited.utxo, 0) AS utxo,
  block_gaps.block_gap,
  CASE WHEN held.used OR held.kind <> 'opening' THEN held.cpu END AS cpu,
  CASE WHEN held.used OR held.kind <> 'opening' THEN held.gc END AS gc,
  CASE WHEN held.used OR held.kind <> 'opening' THEN held.mut END AS mut,
  CASE WHEN held.used OR held.kind <> 'opening' THEN held.blk_io END AS blk_io,
  CASE WHEN held.used OR held.kind <> 'opening' THEN held.rss END AS rss,
  CASE WHEN held.used OR held.kind <> 'opening' THEN held.heap END AS heap,
  CASE WHEN held.used OR held.kind <> 'opening' THEN held.live END AS live,
  CASE WHEN held.used OR held.kind <> 'opening' THEN held.threads END AS threads,
  CASE WHEN held.used OR held.kind <> 'opening' THEN held.gcs_major END AS gcs_major,
  CASE WHEN held.used OR held.kind <> 'opening' THEN held.gcs_minor END AS gcs_minor,
  CASE WHEN held.used OR held.kind <> 'opening' THEN held.alloc END AS alloc,
  CASE WHEN held.used OR held.kind <> 'opening' THEN held.net_rd END AS net_rd,
  CASE WHEN held.used OR held.kind <> 'opening' THEN held.net_wr END AS net_wr,
  CASE WHEN held.used OR held.kind <> 'opening' THEN held.fs_rd END AS fs_rd,
  CASE WHEN held.used OR held.kind <> 'opening' THEN held.fs_wr END AS fs_wr
FROM held
INNER JOIN block_gaps
  ON block_gaps.host = held.host AND block_gaps.slot = held.slot
LEFT JOIN last_told
  ON last_told.host = held.host AND last_told.slot = held.slot
LEFT JOIN inherited
  ON inherited.host = held.host AND inherited.slot = held.slot;
