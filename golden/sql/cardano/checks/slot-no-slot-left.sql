SELECT
  logs.host
FROM logs
ANTI JOIN (
  SELECT
    host
  FROM slot
  WHERE
    accepted
) AS analysed
  ON analysed.host = logs.host
ORDER BY
  logs.host;
