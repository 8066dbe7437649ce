/* The lengths of steps, if there are several: those of at least two consecutive steps. */
WITH gaps AS (
  SELECT
    t_ns,
    t_ns - LAG(t_ns) OVER (ORDER BY t_ns) AS gap
  FROM readings
), pairs AS (
  SELECT
    gap,
    LAG(gap) OVER (ORDER BY t_ns) AS gap_before
  FROM gaps
), lengths AS (
  SELECT DISTINCT
    gap // 1000000000 AS seconds
  FROM pairs
  WHERE
    gap = gap_before
)
SELECT
  LISTAGG(CAST(seconds AS TEXT), ' and '
  ORDER BY
    seconds) AS lengths
FROM lengths
HAVING
  COUNT(*) > 1;
