SELECT
  name,
  job,
  instance,
  block_type,
  t_ns,
  value
FROM block_net_series
ORDER BY
  name,
  job,
  instance,
  block_type,
  t_ns;
