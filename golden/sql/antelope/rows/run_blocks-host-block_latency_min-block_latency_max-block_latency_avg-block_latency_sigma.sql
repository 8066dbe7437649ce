SELECT
  host,
  block_latency_min AS "block_latency_min",
  block_latency_max AS "block_latency_max",
  block_latency_avg AS "block_latency_avg",
  block_latency_sigma AS "block_latency_sigma"
FROM run_blocks
ORDER BY
  host;
