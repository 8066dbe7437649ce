SELECT
  name,
  job,
  instance,
  t_ns,
  value
FROM swap_used_series
ORDER BY
  name,
  job,
  instance,
  t_ns;
