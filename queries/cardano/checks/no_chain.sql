SELECT count(DISTINCT block) AS known
FROM blocks
HAVING (SELECT count(*) FROM chain) = 0
