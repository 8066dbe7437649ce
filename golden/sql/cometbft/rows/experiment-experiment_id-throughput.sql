SELECT
  experiment_id,
  CAST(valid_txs AS DOUBLE) / NULLIF(span, 0) AS "throughput"
FROM experiment
ORDER BY
  experiment_id;
