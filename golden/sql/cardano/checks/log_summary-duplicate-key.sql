SELECT
  machines,
  COUNT(*) AS rows_of_key
FROM log_summary
GROUP BY
  machines
HAVING
  COUNT(*) > 1
ORDER BY
  machines;
