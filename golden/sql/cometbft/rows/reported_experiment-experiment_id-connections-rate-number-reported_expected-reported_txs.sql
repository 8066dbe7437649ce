SELECT
  experiment_id,
  connections,
  rate,
  number,
  expected_txs AS "reported_expected",
  valid_txs AS "reported_txs"
FROM reported_experiment
ORDER BY
  experiment_id;
