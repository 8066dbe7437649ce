SELECT
  host,
  tps_min AS "tps_min",
  tps_max AS "tps_max",
  tps_avg AS "tps_avg",
  tps_sigma AS "tps_sigma",
  tps_empty_blocks AS "tps_empty_blocks"
FROM run_tps
ORDER BY
  host;
