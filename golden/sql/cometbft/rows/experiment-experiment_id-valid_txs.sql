SELECT
  experiment_id,
  valid_txs AS "valid_txs"
FROM experiment
ORDER BY
  experiment_id;
