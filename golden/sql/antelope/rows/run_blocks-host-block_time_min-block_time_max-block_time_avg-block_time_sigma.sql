SELECT
  host,
  block_time_min AS "block_time_min",
  block_time_max AS "block_time_max",
  block_time_avg AS "block_time_avg",
  block_time_sigma AS "block_time_sigma"
FROM run_blocks
ORDER BY
  host;
