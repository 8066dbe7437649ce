SELECT
  number,
  connections,
  rate,
  valid_txs AS "valid_txs",
  expected_txs AS "expected_txs",
  CAST(valid_txs AS DOUBLE) / NULLIF(span, 0) AS "throughput"
FROM experiment
ORDER BY
  experiment_id;
