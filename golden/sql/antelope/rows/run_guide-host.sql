SELECT
  host
FROM run_guide
ORDER BY
  host;
