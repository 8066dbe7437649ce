-- At least one block must be left by the filters.
SELECT count(*) AS blocks
FROM block
HAVING count(*) > 0 AND count(CASE WHEN block.accepted THEN 1 END) = 0
