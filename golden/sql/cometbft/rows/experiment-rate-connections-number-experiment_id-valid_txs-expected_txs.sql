SELECT
  rate,
  connections,
  number,
  experiment_id,
  valid_txs AS "valid_txs",
  expected_txs AS "expected_txs"
FROM experiment
ORDER BY
  experiment_id;
