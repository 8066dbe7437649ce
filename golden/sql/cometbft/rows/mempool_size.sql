SELECT
  name,
  job,
  instance,
  t_ns,
  value
FROM mempool_size
ORDER BY
  name,
  job,
  instance,
  t_ns;
