SELECT
  place,
  COUNT(*) AS rows_of_key
FROM window_blocks
GROUP BY
  place
HAVING
  COUNT(*) > 1
ORDER BY
  place;
