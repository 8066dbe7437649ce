SELECT
  host AS host,
  COUNT(*) AS total,
  COUNT_IF((
    ok AND job = 'export'
  ) AND NOT (
    seconds
  ) IS NULL) AS with_value,
  COUNT_IF((
    ok AND job = 'export'
  ) AND NOT (
    seconds
  ) IS NULL) AS measured
FROM jobs
WHERE
  accepted
GROUP BY
  host
ORDER BY
  host;
