SELECT
  id,
  COUNT(*) AS rows_of_key
FROM transactions
GROUP BY
  id
HAVING
  COUNT(*) > 1
ORDER BY
  id;
