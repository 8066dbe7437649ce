SELECT
  generators,
  trx_latency_min AS "trx_latency_min",
  trx_latency_max AS "trx_latency_max",
  trx_latency_avg AS "trx_latency_avg",
  trx_latency_sigma AS "trx_latency_sigma",
  samples AS "trx_samples"
FROM run_transactions
ORDER BY
  generators;
