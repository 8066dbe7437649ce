SELECT
  tps_avg AS "tps_avg"
FROM run_tps
ORDER BY
  host;
