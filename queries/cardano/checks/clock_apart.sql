-- Hosts whose timestamps differ from those of the other hosts by a slot or more: their slots are not comparable.
SELECT
    host,
    (abs(apart) + 50000000) // 1000000000 || '.' || (abs(apart) + 50000000) // 100000000 % 10
    || CASE WHEN apart > 0 THEN ' s ahead of' ELSE ' s behind' END AS distance
FROM clocks
WHERE abs(apart) >= $slot_length
ORDER BY abs(apart) DESC, host
