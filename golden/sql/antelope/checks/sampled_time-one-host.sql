/* Hosts, if there are samples of several: means over steps would mix them. */
WITH targets AS (
  SELECT DISTINCT
    'node_cpu_seconds_total' AS series,
    job,
    instance
  FROM cpu_seconds
  UNION ALL
  SELECT DISTINCT
    'node_memory_MemTotal_bytes' AS series,
    job,
    instance
  FROM memory_total
  UNION ALL
  SELECT DISTINCT
    'node_disk_written_bytes_total' AS series,
    job,
    instance
  FROM written
)
SELECT
  series,
  COUNT(*) AS number,
  LISTAGG(CONCAT_WS(' ', NULLIF(job, ''), instance), ', '
  ORDER BY
    job,
    instance) AS hosts
FROM targets
GROUP BY
  series
HAVING
  COUNT(*) > 1
ORDER BY
  series
LIMIT 1;
