CREATE TEMPORARY TABLE machine_sizes AS
/* The sizes of the machine (cores and memory), and the steps with each. */
SELECT
  cores,
  maxmem,
  MIN(t_ns) AS first_step,
  MAX(t_ns) AS last_step,
  COUNT(*) AS steps
FROM readings
WHERE
  NOT cores IS NULL AND NOT maxmem IS NULL
GROUP BY
  cores,
  maxmem;
