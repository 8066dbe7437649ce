SELECT
  block,
  COUNT(*) AS rows_of_key
FROM chain
GROUP BY
  block
HAVING
  COUNT(*) > 1
ORDER BY
  block;
