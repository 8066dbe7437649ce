SELECT
  tps_sigma AS "tps_sigma"
FROM run_tps
ORDER BY
  host;
