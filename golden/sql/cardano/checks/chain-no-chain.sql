SELECT
  COUNT(DISTINCT block) AS known
FROM blocks
HAVING
  (
    SELECT
      COUNT(*)
    FROM chain
  ) = 0;
