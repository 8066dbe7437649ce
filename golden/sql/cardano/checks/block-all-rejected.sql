/* The chain, if the filters reject all of its blocks. */
SELECT
  COUNT(*) AS blocks
FROM block
HAVING
  COUNT(*) > 0 AND COUNT(CASE WHEN block.accepted THEN 1 END) = 0;
