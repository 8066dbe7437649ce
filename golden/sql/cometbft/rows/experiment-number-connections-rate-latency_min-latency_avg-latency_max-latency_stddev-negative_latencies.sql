SELECT
  number,
  connections,
  rate,
  latency_min AS "latency_min",
  latency_avg AS "latency_avg",
  latency_max AS "latency_max",
  latency_stddev AS "latency_stddev",
  negative_latencies AS "negative_latencies"
FROM experiment
ORDER BY
  experiment_id;
