SELECT
  host,
  slot,
  slot_start,
  objects AS "logObjects",
  txs_collected AS "txsCollected",
  txs_accepted AS "txsAccepted",
  txs_rejected AS "txsRejected",
  txs_refused AS "mempoolRefusals",
  mempool_txs AS "mempoolTxs",
  forged AS "hostForges",
  snapshots AS "ledgerSnapshots"
FROM host_slot
ORDER BY
  host,
  slot,
  slot_start;
