SELECT
  node
FROM logged_node
ORDER BY
  node;
