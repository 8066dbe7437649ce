SELECT
  experiment_id,
  number,
  connections,
  rate,
  from_ns,
  to_ns,
  expected_txs AS "expected_txs",
  valid_txs AS "valid_txs"
FROM experiment
ORDER BY
  experiment_id;
