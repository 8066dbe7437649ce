SELECT
  number,
  connections,
  rate,
  valid_txs AS "valid_txs",
  expected_txs AS "expected_txs",
  CAST(valid_txs AS DOUBLE) / span AS "throughput"
FROM experiment
ORDER BY
  experiment_id;
