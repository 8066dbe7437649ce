SELECT
  name,
  job,
  instance,
  t_ns,
  value
FROM cpu_usage_series
ORDER BY
  name,
  job,
  instance,
  t_ns;
