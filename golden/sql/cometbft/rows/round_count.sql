SELECT
  name,
  job,
  instance,
  t_ns,
  value
FROM round_count
ORDER BY
  name,
  job,
  instance,
  t_ns;
