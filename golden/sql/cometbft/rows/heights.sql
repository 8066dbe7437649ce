SELECT
  name,
  job,
  instance,
  t_ns,
  value
FROM heights
ORDER BY
  name,
  job,
  instance,
  t_ns;
