SELECT
  name,
  job,
  instance,
  device,
  t_ns,
  value
FROM disk_write_rates
ORDER BY
  name,
  job,
  instance,
  device,
  t_ns;
