CREATE TEMPORARY TABLE observed AS
/* From 20 s after the first sample, so that every rate has its window, to the last one, in whole seconds. */
SELECT
  'all samples' AS name,
  MIN(t_ns) // 1000000000 * 1000000000 + 20000000000 AS from_ns,
  MAX(t_ns) // 1000000000 * 1000000000 AS to_ns
FROM written
HAVING
  COUNT(*) > 0;
