SELECT
  name,
  job,
  instance,
  t_ns,
  value
FROM peer_count
ORDER BY
  name,
  job,
  instance,
  t_ns;
