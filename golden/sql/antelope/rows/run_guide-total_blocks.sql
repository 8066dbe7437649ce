SELECT
  total_blocks AS "total_blocks"
FROM run_guide
ORDER BY
  host;
