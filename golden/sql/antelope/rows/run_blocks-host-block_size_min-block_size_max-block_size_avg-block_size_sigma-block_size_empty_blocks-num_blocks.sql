SELECT
  host,
  block_size_min AS "block_size_min",
  block_size_max AS "block_size_max",
  block_size_avg AS "block_size_avg",
  block_size_sigma AS "block_size_sigma",
  block_size_empty_blocks AS "block_size_empty_blocks",
  num_blocks AS "num_blocks"
FROM run_blocks
ORDER BY
  host;
