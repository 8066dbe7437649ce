SELECT
  host,
  slot,
  slot_start,
  txs_refused AS "mempoolRefusals"
FROM host_slot
ORDER BY
  host,
  slot;
