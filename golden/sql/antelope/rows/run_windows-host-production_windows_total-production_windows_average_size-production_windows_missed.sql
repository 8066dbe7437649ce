SELECT
  host,
  windows AS "production_windows_total",
  average_size AS "production_windows_average_size",
  missed AS "production_windows_missed"
FROM run_windows
ORDER BY
  host;
