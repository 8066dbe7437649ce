SELECT
  name,
  job,
  instance,
  t_ns,
  value
FROM memory_used_series
ORDER BY
  name,
  job,
  instance,
  t_ns;
