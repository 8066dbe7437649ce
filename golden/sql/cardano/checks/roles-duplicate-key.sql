SELECT
  host,
  block,
  COUNT(*) AS rows_of_key
FROM roles
GROUP BY
  host,
  block
HAVING
  COUNT(*) > 1
ORDER BY
  host,
  block;
