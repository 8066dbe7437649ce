SELECT
  name,
  COUNT(*) AS rows_of_key
FROM rotation
GROUP BY
  name
HAVING
  COUNT(*) > 1
ORDER BY
  name;
