SELECT
  rate,
  connections,
  number,
  valid_txs AS "reported_txs",
  expected_txs AS "reported_expected"
FROM reported_experiment
ORDER BY
  experiment_id;
