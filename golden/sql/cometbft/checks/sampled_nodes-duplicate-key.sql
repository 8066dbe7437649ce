SELECT
  job,
  instance,
  COUNT(*) AS rows_of_key
FROM sampled_nodes
GROUP BY
  job,
  instance
HAVING
  COUNT(*) > 1
ORDER BY
  job,
  instance;
