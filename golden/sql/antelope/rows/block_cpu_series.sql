SELECT
  name,
  job,
  instance,
  block_type,
  t_ns,
  value
FROM block_cpu_series
ORDER BY
  name,
  job,
  instance,
  block_type,
  t_ns;
