SELECT
  name,
  job,
  instance,
  t_ns,
  value
FROM p2p_peers_series
ORDER BY
  name,
  job,
  instance,
  t_ns;
