CREATE TEMPORARY TABLE production_windows AS
/* Production windows in the test: twelve blocks of a producer are a complete one. The first and the last window may be */
/* incomplete because the test begins or ends within them, and count only if they are complete. */
WITH marked AS (
  SELECT
    host,
    place,
    producer,
    CASE
      WHEN producer IS DISTINCT FROM LAG(producer) OVER (ORDER BY place)
      THEN 1
      ELSE 0
    END AS begins
  FROM blocks
  WHERE
    of_test
), turns AS (
  SELECT
    host,
    place,
    SUM(begins) OVER (ORDER BY place) AS turn
  FROM marked
), sizes AS (
  SELECT
    host,
    turn,
    COUNT(*) AS size,
    MAX(turn) OVER () AS last_turn
  FROM turns
  GROUP BY
    host,
    turn
)
SELECT
  guide.host,
  COUNT(sizes.turn) AS windows,
  CAST(SUM(sizes.size) AS DOUBLE) / NULLIF(COUNT(sizes.turn), 0) AS average_size,
  COUNT(*) FILTER(WHERE
    sizes.size <> 12) AS missed
FROM guide
LEFT JOIN sizes
  ON sizes.host = guide.host
  AND (
    sizes.size = 12 OR NOT sizes.turn IN (1, sizes.last_turn)
  )
GROUP BY
  guide.host;
