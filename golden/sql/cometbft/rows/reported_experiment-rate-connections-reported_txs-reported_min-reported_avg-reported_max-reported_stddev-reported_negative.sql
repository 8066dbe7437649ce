SELECT
  rate,
  connections,
  valid_txs AS "reported_txs",
  latency_min AS "reported_min",
  latency_avg AS "reported_avg",
  latency_max AS "reported_max",
  latency_stddev AS "reported_stddev",
  negative_latencies AS "reported_negative"
FROM reported_experiment
ORDER BY
  experiment_id;
