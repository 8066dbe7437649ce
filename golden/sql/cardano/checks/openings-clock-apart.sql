-- `$name` stands for a constant of the run; constants.json has the values.
/* Hosts whose timestamps differ from those of the other hosts by a slot or more: their slots are not comparable. */
SELECT
  host,
  (
    ABS(apart) + 50000000
  ) // 1000000000 || '.' || (
    ABS(apart) + 50000000
  ) // 100000000 % 10 || CASE WHEN apart > 0 THEN ' s ahead of' ELSE ' s behind' END AS distance
FROM clocks
WHERE
  ABS(apart) >= $slot_length
ORDER BY
  ABS(apart) DESC,
  host;
