SELECT
  name,
  job,
  instance,
  t_ns,
  value
FROM eph_heights
ORDER BY
  name,
  job,
  instance,
  t_ns;
