/* Steps with records that differ, and the columns in which they differ. */
WITH differences AS (
  SELECT
    t_ns,
    CONCAT_WS(
      ', ',
      CASE WHEN COUNT(DISTINCT cpu) > 1 THEN 'cpu' END,
      CASE WHEN COUNT(DISTINCT maxcpu) > 1 THEN 'maxcpu' END,
      CASE WHEN COUNT(DISTINCT mem) > 1 THEN 'mem' END,
      CASE WHEN COUNT(DISTINCT maxmem) > 1 THEN 'maxmem' END,
      CASE WHEN COUNT(DISTINCT diskread) > 1 THEN 'diskread' END,
      CASE WHEN COUNT(DISTINCT diskwrite) > 1 THEN 'diskwrite' END,
      CASE WHEN COUNT(DISTINCT netin) > 1 THEN 'netin' END,
      CASE WHEN COUNT(DISTINCT netout) > 1 THEN 'netout' END
    ) AS fields
  FROM machine
  GROUP BY
    t_ns
)
SELECT
  COUNT(*) AS steps,
  STRFTIME(MAKE_TIMESTAMP_NS(MIN(t_ns)), '%Y-%m-%d %H:%M:%S') AS instant,
  ARG_MIN(fields, t_ns) AS fields
FROM differences
WHERE
  fields <> ''
HAVING
  COUNT(*) > 0;
