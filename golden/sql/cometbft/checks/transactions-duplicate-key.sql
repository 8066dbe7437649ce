SELECT
  experiment_id,
  place,
  COUNT(*) AS rows_of_key
FROM transactions
GROUP BY
  experiment_id,
  place
HAVING
  COUNT(*) > 1
ORDER BY
  experiment_id,
  place;
