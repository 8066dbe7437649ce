SELECT
  connections,
  rate,
  number,
  experiment_id,
  valid_txs AS "valid_txs",
  CAST(valid_txs AS DOUBLE) / NULLIF(span, 0) AS "throughput",
  latency_avg AS "latency_avg",
  latency_max AS "latency_max"
FROM experiment
ORDER BY
  experiment_id;
