SELECT
  name,
  job,
  instance,
  t_ns,
  value
FROM head_block_series
ORDER BY
  name,
  job,
  instance,
  t_ns;
