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
), sources /* the event whose values a slot has */ AS (
  SELECT
    timeline.host,
    timeline.slot,
    timeline.kind,
    NOT last_usage.seq IS NULL AS used,
    COALESCE(last_usage.seq, earlier.seq) AS seq
  FROM timeline
  LEFT JOIN last_usage
    ON last_usage.host = timeline.host AND last_usage.slot = timeline.slot
  ASOF LEFT JOIN resource_usage AS earlier
    ON earlier.host = timeline.host AND earlier.seq < timeline.reached_seq
), told /* a check tells each of the two only when it is above 0; ledger metrics, which belong to the latest slot, always do */ AS (
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
  FROM told
  SEMI JOIN gaps
    ON gaps.host = told.host AND gaps.before = told.slot
  WHERE
    NOT density IS NULL
), utxos AS (
  SELECT
    host,
    slot,
    seq,
    utxo
  FROM told
  SEMI JOIN gaps
    ON gaps.host = told.host AND gaps.before = told.slot
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
  FROM gaps
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
    sources.host,
    sources.slot,
    sources.kind,
    sources.used OR sources.kind <> 'opening' AS known,
    COALESCE(resource_usage.cpu, 0) AS cpu,
    COALESCE(resource_usage.gc, 0) AS gc,
    COALESCE(resource_usage.mut, 0) AS mut,
    COALESCE(resource_usage.blk_io, 0) AS blk_io,
    COALESCE(resource_usage.rss, 0) AS rss,
    COALESCE(resource_usage.heap, 0) AS heap,
    COALESCE(resource_usage.live, 0) AS live,
    COALESCE(resource_usage.threads, 0) AS threads,
    CASE WHEN sources.used THEN resource_usage.gcs_major ELSE 0 END AS gcs_major,
    CASE WHEN sources.used THEN resource_usage.gcs_minor ELSE 0 END AS gcs_minor,
    CASE WHEN sources.used THEN resource_usage.alloc ELSE 0 END AS alloc,
    CASE WHEN sources.used THEN resource_usage.net_rd ELSE 0 END AS net_rd,
    CASE WHEN sources.used THEN resource_usage.net_wr ELSE 0 END AS net_wr,
    CASE WHEN sources.used THEN resource_usage.fs_rd ELSE 0 END AS fs_rd,
    CASE WHEN sources.used THEN resource_usage.fs_wr ELSE 0 END AS fs_wr
  FROM sources
  LEFT JOIN resource_usage
    ON resource_usage.host = sources.host AND resource_usage.seq = sources.seq
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
INNER JOIN block_gaps
  ON block_gaps.host = held.host AND block_gaps.slot = held.slot
LEFT JOIN last_told
  ON last_told.host = held.host AND last_told.slot = held.slot
LEFT JOIN inherited
  ON inherited.host = held.host AND inherited.slot = held.slot;
