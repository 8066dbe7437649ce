CREATE TEMPORARY TABLE rotation AS
/* From the first sample of a rotating node (a job whose name begins with `ephemeral`) to the last block of the load. */
WITH firsts AS (
  SELECT
    MIN(t_ns) AS first_sample
  FROM height
  WHERE
    role = 'ephemeral'
)
SELECT
  'rotating nodes' AS name,
  GREATEST(firsts.first_sample // 1000000000 * 1000000000, windows.from_ns) AS from_ns,
  windows.to_ns
FROM firsts
CROSS JOIN windows
WHERE
  firsts.first_sample <= windows.to_ns;
