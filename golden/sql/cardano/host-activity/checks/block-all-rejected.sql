/* At least one block must be left by the filters. */
SELECT
  COUNT(*) AS blocks
FROM block
HAVING
  COUNT(*) > 0 AND COUNT(CASE WHEN block.accepted THEN 1 END) = 0;
