SELECT
  name,
  COUNT(*) AS rows_of_key
FROM observed
GROUP BY
  name
HAVING
  COUNT(*) > 1
ORDER BY
  name
LIMIT 100;
