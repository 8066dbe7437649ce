SELECT
  node,
  starts AS "node_starts",
  catching_up AS "node_catching_up",
  blocks AS "node_blocks_committed",
  blocks_caught_up AS "node_blocks_caught_up",
  interval_avg AS "node_block_interval",
  interval_max AS "node_block_interval_max",
  proposals AS "node_proposals",
  complaints AS "node_complaints"
FROM logged_node
ORDER BY
  node;
