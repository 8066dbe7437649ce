SELECT
  host,
  slot,
  COUNT(*) AS rows_of_key
FROM slots
GROUP BY
  host,
  slot
HAVING
  COUNT(*) > 1
ORDER BY
  host,
  slot;
