-- The chain, if the filters reject all of its blocks.
SELECT count(*) AS blocks
FROM block
HAVING count(*) > 0 AND count(CASE WHEN block.accepted THEN 1 END) = 0
