SELECT
  host,
  host
FROM run_guide
ORDER BY
  host;
