SELECT
  node,
  CASE WHEN NOT block_interval IS NULL THEN height END AS "block_height",
  block_interval AS "block_interval"
FROM node_block
ORDER BY
  node,
  height;
