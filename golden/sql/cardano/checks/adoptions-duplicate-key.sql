SELECT
  block,
  host,
  COUNT(*) AS rows_of_key
FROM adoptions
GROUP BY
  block,
  host
HAVING
  COUNT(*) > 1
ORDER BY
  block,
  host;
