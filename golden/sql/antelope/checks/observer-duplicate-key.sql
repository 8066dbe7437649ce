SELECT
  host,
  COUNT(*) AS rows_of_key
FROM observer
GROUP BY
  host
HAVING
  COUNT(*) > 1
ORDER BY
  host;
