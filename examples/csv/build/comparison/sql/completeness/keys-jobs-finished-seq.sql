SELECT
  found.host,
  COUNT(*) AS records,
  COUNT_IF(keys.known IS NULL) AS unmatched,
  COUNT(DISTINCT CASE WHEN keys.known IS NULL THEN found.key END) AS keys,
  CAST(MIN(CASE WHEN keys.known IS NULL THEN found.key END) AS TEXT) AS example
FROM (
  SELECT
    host,
    seq AS key
  FROM finished
  WHERE
    NOT seq IS NULL
) AS found
LEFT JOIN (
  SELECT DISTINCT
    seq AS known
  FROM jobs_rows
) AS keys
  ON found.key = keys.known
GROUP BY
  found.host
ORDER BY
  found.host;
