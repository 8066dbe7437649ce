SELECT
  host,
  slot,
  slot_start,
  mempool_txs AS "mempoolTxs"
FROM host_slot
ORDER BY
  host,
  slot;
