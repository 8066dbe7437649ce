SELECT
  host,
  seq,
  COUNT(*) AS rows_of_key
FROM slot_marks
GROUP BY
  host,
  seq
HAVING
  COUNT(*) > 1
ORDER BY
  host,
  seq;
