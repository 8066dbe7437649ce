CREATE TEMPORARY TABLE run_time AS
SELECT
  MIN(first_ns) AS from_ns,
  MAX(last_ns) AS to_ns
FROM logs;
