SELECT
  job,
  least_peers AS "peers_least",
  most_peers AS "peers_most",
  highest_round AS "round_highest",
  block_rate AS "block_rate_avg",
  mempool_size AS "mempool_size_avg",
  most_memory AS "memory_most"
FROM sampled_node
ORDER BY
  job,
  instance;
