CREATE TEMPORARY TABLE windows AS
/* The window of time series: all experiments, from the whole second at which the first began to that of the last block. */
SELECT
  'all experiments' AS name,
  MIN(first_sent) // 1000000000 * 1000000000 AS from_ns,
  MAX(last_block) // 1000000000 * 1000000000 AS to_ns
FROM experiments
HAVING
  COUNT(*) > 0;
