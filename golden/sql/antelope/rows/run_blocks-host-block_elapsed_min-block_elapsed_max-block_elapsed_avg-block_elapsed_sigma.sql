SELECT
  host,
  block_elapsed_min AS "block_elapsed_min",
  block_elapsed_max AS "block_elapsed_max",
  block_elapsed_avg AS "block_elapsed_avg",
  block_elapsed_sigma AS "block_elapsed_sigma"
FROM run_blocks
ORDER BY
  host;
