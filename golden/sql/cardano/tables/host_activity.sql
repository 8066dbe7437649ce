-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE host_activity AS
/* Counts of records of each host by slot of its timeline. */
/* A record belongs to the latest slot that the host had reached when it was logged, even if it names another slot. */
/* Records before the start of the system do not count. Skipped slots have none. The size of the mempool is that of the */
/* last record in or before the slot; without such a record it is missing. */
/* As in the number of analysed log objects, fork switches and records about dropped records do not count. */
WITH records AS (
  SELECT
    host,
    seq,
    t_ns,
    count AS collected,
    NULL AS accepted,
    NULL AS rejected,
    NULL AS mempool_txs,
    NULL AS kind
  FROM txs_collected
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    accepted,
    rejected,
    NULL,
    NULL
  FROM txs_processed
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    mempool_txs,
    NULL
  FROM mempool_size
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    'refused'
  FROM tx_rejected
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    'forged'
  FROM block_forged
  UNION ALL
  /* Both edges of a snapshot are objects, but the one at its end counts no further snapshot. */
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    CASE WHEN edge = 'FallingEdgeWith' THEN 'end' ELSE 'snapshot' END
  FROM ledger_snapshot
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
  FROM resources
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
  FROM leadership_check_started
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
  FROM block_context
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
  FROM ledger_state
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
  FROM ledger_view
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
  FROM leadership_decided
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
  FROM ledger_ticked
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
  FROM mempool_snapshot
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
  FROM header_seen
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
  FROM fetch_requested
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
  FROM fetch_completed
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
  FROM header_announced
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
  FROM block_sent
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
  FROM block_adopted
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
  FROM ledger_metrics
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
  FROM txs_acked
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
  FROM generator_summary
), reached AS (
  SELECT
    host,
    slot,
    reached_seq
  FROM timeline
  WHERE
    kind <> 'gap'
), located AS (
  SELECT
    reached.slot,
    records.host,
    records.seq,
    records.collected,
    records.accepted,
    records.rejected,
    records.mempool_txs,
    records.kind
  FROM records
  ASOF JOIN reached
    ON reached.host = records.host AND reached.reached_seq <= records.seq
  WHERE
    records.t_ns >= $system_start
), counted AS (
  SELECT
    host,
    slot,
    COUNT(*) AS objects,
    CAST(SUM(collected) AS BIGINT) AS collected,
    CAST(SUM(accepted) AS BIGINT) AS accepted,
    CAST(SUM(rejected) AS BIGINT) AS rejected,
    ARG_MAX(mempool_txs, (seq, mempool_txs)) FILTER(WHERE
      NOT mempool_txs IS NULL) AS mempool_txs,
    COUNT(CASE WHEN kind = 'refused' THEN 1 END) AS refused,
    COUNT(CASE WHEN kind = 'forged' THEN 1 END) AS forged,
    COUNT(CASE WHEN kind = 'snapshot' THEN 1 END) AS snapshots
  FROM located
  GROUP BY
    host,
    slot
)
SELECT
  timeline.host,
  timeline.slot,
  $system_start + timeline.slot * $slot_length AS slot_start,
  COALESCE(counted.objects, 0) AS objects,
  COALESCE(counted.collected, 0) AS txs_collected,
  COALESCE(counted.accepted, 0) AS txs_accepted,
  COALESCE(counted.rejected, 0) AS txs_rejected,
  COALESCE(counted.refused, 0) AS txs_refused,
  LAST_VALUE(counted.mempool_txs IGNORE NULLS) OVER (
    PARTITION BY timeline.host
    ORDER BY timeline.slot
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS mempool_txs,
  COALESCE(counted.forged, 0) AS forged,
  COALESCE(counted.snapshots, 0) AS snapshots
FROM timeline
LEFT JOIN counted
  ON counted.host = timeline.host AND counted.slot = timeline.slot;
