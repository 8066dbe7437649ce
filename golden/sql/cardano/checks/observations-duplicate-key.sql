SELECT
  block,
  host,
  COUNT(*) AS rows_of_key
FROM observations
GROUP BY
  block,
  host
HAVING
  COUNT(*) > 1
ORDER BY
  block,
  host;
