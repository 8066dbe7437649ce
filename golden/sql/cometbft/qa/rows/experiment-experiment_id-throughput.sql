SELECT
  experiment_id,
  CAST(valid_txs AS DOUBLE) / span AS "throughput"
FROM experiment
ORDER BY
  experiment_id;
