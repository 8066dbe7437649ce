CREATE TEMPORARY TABLE machine_sizes AS
/* What the machine had of cores and memory, and in which steps. */
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
