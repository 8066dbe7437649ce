SELECT
  name,
  place,
  COUNT(*) AS rows_of_key
FROM run_transactions
GROUP BY
  name,
  place
HAVING
  COUNT(*) > 1
ORDER BY
  name,
  place;
