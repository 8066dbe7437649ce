SELECT
  name,
  job,
  instance,
  device,
  t_ns,
  value
FROM disk_write_series
ORDER BY
  name,
  job,
  instance,
  device,
  t_ns;
