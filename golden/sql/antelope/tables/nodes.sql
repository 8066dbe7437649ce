CREATE TEMPORARY TABLE nodes AS
/* For each node: received and produced blocks, fork switches, dropped blocks. */
WITH counts AS (
  SELECT
    host,
    COUNT(*) FILTER(WHERE
      origin = 'received') AS received,
    COUNT(*) FILTER(WHERE
      origin = 'produced') AS produced
  FROM block
  GROUP BY
    host
), switches AS (
  SELECT
    host,
    COUNT(*) AS forks,
    LISTAGG(CAST((
      from_number - to_number + 1
    ) AS TEXT), ', '
    ORDER BY
      seq) AS forked_blocks
  FROM forked
  GROUP BY
    host
), drops AS (
  SELECT
    host,
    COUNT(*) AS dropped,
    LISTAGG(CAST(number AS TEXT), ', '
    ORDER BY
      seq) AS dropped_blocks
  FROM dropped
  GROUP BY
    host
)
SELECT
  logs.host,
  COALESCE(counts.received, 0) AS received,
  COALESCE(counts.produced, 0) AS produced,
  COALESCE(switches.forks, 0) AS forks,
  COALESCE(switches.forked_blocks, '') AS forked_blocks,
  COALESCE(drops.dropped, 0) AS dropped,
  COALESCE(drops.dropped_blocks, '') AS dropped_blocks
FROM (
  SELECT
    *
  FROM logs
  WHERE
    source IN ('nodes')
) AS logs
LEFT JOIN counts
  ON counts.host = logs.host
LEFT JOIN switches
  ON switches.host = logs.host
LEFT JOIN drops
  ON drops.host = logs.host
WHERE
  logs.host <> '';
