SELECT
  host,
  COUNT(*) AS rows_of_key
FROM forging_hosts
GROUP BY
  host
HAVING
  COUNT(*) > 1
ORDER BY
  host;
