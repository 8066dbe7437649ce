SELECT
  name,
  job,
  instance,
  t_ns,
  value
FROM cpu
ORDER BY
  name,
  job,
  instance,
  t_ns;
