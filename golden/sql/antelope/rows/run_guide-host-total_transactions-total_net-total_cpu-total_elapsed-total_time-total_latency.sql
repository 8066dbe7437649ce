SELECT
  host,
  total_transactions AS "total_transactions",
  total_net AS "total_net",
  total_cpu AS "total_cpu",
  total_elapsed AS "total_elapsed",
  total_time AS "total_time",
  total_latency AS "total_latency"
FROM run_guide
ORDER BY
  host;
