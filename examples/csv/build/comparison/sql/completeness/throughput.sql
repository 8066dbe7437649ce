SELECT
  host AS host,
  COUNT(*) AS total,
  COUNT_IF(ok AND NOT (
    CAST(rows AS DOUBLE) / NULLIF(seconds, 0)
  ) IS NULL) AS with_value,
  COUNT_IF(ok AND NOT (
    CAST(rows AS DOUBLE) / NULLIF(seconds, 0)
  ) IS NULL) AS measured
FROM jobs
WHERE
  accepted
GROUP BY
  host
ORDER BY
  host;
