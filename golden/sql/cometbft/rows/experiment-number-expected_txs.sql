SELECT
  number,
  expected_txs AS "expected_txs"
FROM experiment
ORDER BY
  experiment_id;
