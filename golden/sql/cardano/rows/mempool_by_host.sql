SELECT
  host,
  t_ns,
  value
FROM mempool_by_host
ORDER BY
  host,
  t_ns;
