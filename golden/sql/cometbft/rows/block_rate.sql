SELECT
  name,
  job,
  instance,
  t_ns,
  value
FROM block_rate
ORDER BY
  name,
  job,
  instance,
  t_ns;
