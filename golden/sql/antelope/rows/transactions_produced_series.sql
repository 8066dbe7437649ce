SELECT
  name,
  job,
  instance,
  t_ns,
  value
FROM transactions_produced_series
ORDER BY
  name,
  job,
  instance,
  t_ns;
