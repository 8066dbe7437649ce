SELECT
  generators,
  COUNT(*) AS rows_of_key
FROM transaction_statistics
GROUP BY
  generators
HAVING
  COUNT(*) > 1
ORDER BY
  generators
LIMIT 100;
