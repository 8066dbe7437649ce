SELECT
  MIN(from_ns) AS from_ns,
  MAX(to_ns) AS to_ns
FROM observed;
