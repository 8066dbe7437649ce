SELECT
  host,
  seq,
  COUNT(*) AS rows_of_key
FROM resource_usage
GROUP BY
  host,
  seq
HAVING
  COUNT(*) > 1
ORDER BY
  host,
  seq;
