SELECT
  tps_empty_blocks AS "tps_empty_blocks"
FROM run_tps
ORDER BY
  host;
