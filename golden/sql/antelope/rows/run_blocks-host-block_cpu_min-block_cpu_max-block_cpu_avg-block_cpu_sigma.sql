SELECT
  host,
  block_cpu_min AS "block_cpu_min",
  block_cpu_max AS "block_cpu_max",
  block_cpu_avg AS "block_cpu_avg",
  block_cpu_sigma AS "block_cpu_sigma"
FROM run_blocks
ORDER BY
  host;
