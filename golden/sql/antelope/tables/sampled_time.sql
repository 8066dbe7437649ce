CREATE TEMPORARY TABLE sampled_time AS
/* From the first whole second at which there are samples to the last. */
WITH samples AS (
  SELECT
    t_ns
  FROM cpu_seconds
  UNION ALL
  SELECT
    t_ns
  FROM memory_total
  UNION ALL
  SELECT
    t_ns
  FROM written
  UNION ALL
  SELECT
    t_ns
  FROM head_block
)
SELECT
  'run' AS name,
  (
    MIN(t_ns) + 999999999
  ) // 1000000000 * 1000000000 AS from_ns,
  MAX(t_ns) // 1000000000 * 1000000000 AS to_ns
FROM samples
HAVING
  COUNT(*) > 0;
