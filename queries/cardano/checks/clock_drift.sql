-- Hosts whose timestamps differ from those of the other hosts by 0.1 s or more, but less than a slot.
SELECT
    host,
    (abs(apart) + 50000000) // 1000000000 || '.' || (abs(apart) + 50000000) // 100000000 % 10
    || CASE WHEN apart > 0 THEN ' s ahead of' ELSE ' s behind' END AS distance
FROM clocks
WHERE abs(apart) >= 100000000 AND abs(apart) < $slot_length
ORDER BY abs(apart) DESC, host
