SELECT
  rate,
  connections,
  number,
  valid_txs AS "valid_txs",
  expected_txs AS "expected_txs"
FROM experiment
ORDER BY
  experiment_id;
