SELECT
  name,
  job,
  instance,
  t_ns,
  value
FROM total_txs_rate
ORDER BY
  name,
  job,
  instance,
  t_ns;
