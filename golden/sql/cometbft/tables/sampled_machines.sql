CREATE TEMPORARY TABLE sampled_machines AS
/* The load average of each machine over the time of all experiments, at each second. */
SELECT
  job,
  instance,
  AVG(value ORDER BY t_ns, value) AS average_load,
  MAX(value) AS highest_load
FROM cpu
WHERE
  ISFINITE(value)
GROUP BY
  job,
  instance;
