SELECT
  name,
  job,
  instance,
  t_ns,
  value
FROM p2p_clients_series
ORDER BY
  name,
  job,
  instance,
  t_ns;
