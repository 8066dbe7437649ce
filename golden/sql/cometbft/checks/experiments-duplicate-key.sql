SELECT
  experiment_id,
  COUNT(*) AS rows_of_key
FROM experiments
GROUP BY
  experiment_id
HAVING
  COUNT(*) > 1
ORDER BY
  experiment_id;
