-- `$name` stands for a constant of the run; constants.json has the values.
/* Events that name a slot that is not in the host's timeline at that time. */
WITH named AS (
  SELECT
    host,
    seq,
    t_ns,
    slot,
    'block_context' AS event
  FROM block_context
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    slot,
    'ledger_state'
  FROM ledger_state
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    slot,
    'ledger_view'
  FROM ledger_view
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    slot,
    'leadership_decided'
  FROM leadership_decided
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    slot,
    'ledger_ticked'
  FROM ledger_ticked
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    slot,
    'mempool_snapshot'
  FROM mempool_snapshot
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    slot,
    'block_forged'
  FROM block_forged
)
SELECT
  named.host,
  named.event,
  named.slot,
  STRFTIME(MAKE_TIMESTAMP_NS(named.t_ns), '%Y-%m-%d %H:%M:%S.%n') AS instant
FROM named
LEFT JOIN timeline
  ON timeline.host = named.host AND timeline.slot = named.slot
WHERE
  named.t_ns >= $system_start
  AND (
    timeline.slot IS NULL OR timeline.reached_seq > named.seq
  )
UNION ALL
SELECT
  host,
  CASE WHEN mark = 'started' THEN 'leadership_check_started' ELSE 'resources' END AS event,
  slot,
  STRFTIME(MAKE_TIMESTAMP_NS(t_ns), '%Y-%m-%d %H:%M:%S.%n') AS instant
FROM slot_marks
WHERE
  slot < opening
ORDER BY
  host,
  instant,
  event,
  slot;
