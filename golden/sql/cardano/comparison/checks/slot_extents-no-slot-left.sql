SELECT
  logs.host
FROM logs
ANTI JOIN slot_extents
  ON slot_extents.host = logs.host
ORDER BY
  logs.host;
