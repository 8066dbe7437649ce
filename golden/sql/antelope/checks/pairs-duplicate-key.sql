SELECT
  place,
  COUNT(*) AS rows_of_key
FROM pairs
GROUP BY
  place
HAVING
  COUNT(*) > 1
ORDER BY
  place;
