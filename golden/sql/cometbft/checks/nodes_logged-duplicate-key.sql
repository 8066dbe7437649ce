SELECT
  node,
  COUNT(*) AS rows_of_key
FROM nodes_logged
GROUP BY
  node
HAVING
  COUNT(*) > 1
ORDER BY
  node;
