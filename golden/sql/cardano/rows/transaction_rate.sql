SELECT
  t_ns,
  value
FROM transaction_rate
ORDER BY
  t_ns;
