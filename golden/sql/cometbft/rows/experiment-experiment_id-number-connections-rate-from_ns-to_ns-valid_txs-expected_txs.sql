SELECT
  experiment_id,
  number,
  connections,
  rate,
  from_ns,
  to_ns,
  valid_txs AS "valid_txs",
  expected_txs AS "expected_txs"
FROM experiment
ORDER BY
  experiment_id;
