CREATE TEMPORARY TABLE forging_hosts AS
/* What became of the blocks of each host: how many it made, how many are on the main chain, how many of these the */
/* filters let pass. */
WITH made AS (
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
  COALESCE(made.total, 0) AS total,
  COALESCE(made.chained, 0) AS chained,
  COALESCE(made.filtered, 0) AS filtered
FROM logs
LEFT JOIN made
  ON made.host = logs.host;
