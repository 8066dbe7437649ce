CREATE TEMPORARY TABLE forging_hosts AS
/* The blocks of each host: how many it forged, how many of them are on the main chain, and how many of those the */
/* filters accept. */
WITH counts AS (
  SELECT
    blocks.host,
    COUNT(*) AS total,
    COUNT(block.block) AS chained,
    COUNT(CASE WHEN block.accepted THEN 1 END) AS filtered
  FROM blocks
  LEFT JOIN block
    ON block.block = blocks.block
  WHERE
    blocks.role = 'forger'
  GROUP BY
    blocks.host
)
SELECT
  logs.host,
  COALESCE(counts.total, 0) AS total,
  COALESCE(counts.chained, 0) AS chained,
  COALESCE(counts.filtered, 0) AS filtered
FROM logs
LEFT JOIN counts
  ON counts.host = logs.host;
