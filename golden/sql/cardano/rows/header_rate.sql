SELECT
  t_ns,
  value
FROM header_rate
ORDER BY
  t_ns;
