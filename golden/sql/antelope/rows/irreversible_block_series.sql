SELECT
  name,
  job,
  instance,
  t_ns,
  value
FROM irreversible_block_series
ORDER BY
  name,
  job,
  instance,
  t_ns;
