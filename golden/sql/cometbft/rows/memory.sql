SELECT
  name,
  job,
  instance,
  t_ns,
  value
FROM memory
ORDER BY
  name,
  job,
  instance,
  t_ns;
