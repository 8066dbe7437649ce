SELECT
  node,
  height,
  COUNT(*) AS rows_of_key
FROM node_blocks
GROUP BY
  node,
  height
HAVING
  COUNT(*) > 1
ORDER BY
  node,
  height;
