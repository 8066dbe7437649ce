CREATE TEMPORARY TABLE nodes_logged AS
/* Totals of each node, from its log. */
WITH blocks AS (
  SELECT
    node,
    MIN(height) AS first_height,
    MAX(height) AS last_height,
    COUNT(*) AS blocks,
    COUNT(*) FILTER(WHERE
      NOT in_consensus) AS blocks_caught_up,
    CAST((
      CAST(SUM(block_interval) AS INT128) // COUNT(block_interval)
    ) AS BIGINT) AS interval_avg,
    MAX(block_interval) AS interval_max
  FROM node_blocks
  GROUP BY
    node
), executed AS (
  SELECT
    host,
    CAST(SUM(transactions) AS BIGINT) AS transactions
  FROM (
    SELECT
      host,
      height,
      ARG_MIN(transactions, seq) AS transactions
    FROM finalized
    GROUP BY
      host,
      height
  )
  GROUP BY
    host
), starts AS (
  SELECT
    host,
    COUNT(*) AS starts
  FROM started
  GROUP BY
    host
), proposals AS (
  SELECT
    host,
    COUNT(*) AS proposals
  FROM proposed
  GROUP BY
    host
), complaints AS (
  SELECT
    host,
    COUNT(*) AS complaints
  FROM complained
  GROUP BY
    host
), catches AS (
  SELECT
    caught_up.host,
    caught_up.seq,
    caught_up.t_ns - MAX(started.t_ns) AS catching_up
  FROM caught_up
  INNER JOIN started
    ON started.host = caught_up.host AND started.seq < caught_up.seq
  GROUP BY
    caught_up.host,
    caught_up.seq,
    caught_up.t_ns
), longest AS (
  SELECT
    host,
    MAX(catching_up) AS catching_up
  FROM catches
  GROUP BY
    host
)
SELECT
  logs.host AS node,
  COALESCE(starts.starts, 0) AS starts,
  blocks.first_height,
  blocks.last_height,
  COALESCE(blocks.blocks, 0) AS blocks,
  COALESCE(blocks.blocks_caught_up, 0) AS blocks_caught_up,
  executed.transactions,
  blocks.interval_avg,
  blocks.interval_max,
  longest.catching_up,
  COALESCE(proposals.proposals, 0) AS proposals,
  COALESCE(complaints.complaints, 0) AS complaints
FROM (
  SELECT
    *
  FROM logs
  WHERE
    source IN ('nodes')
) AS logs
LEFT JOIN blocks
  ON blocks.node = logs.host
LEFT JOIN executed
  ON executed.host = logs.host
LEFT JOIN starts
  ON starts.host = logs.host
LEFT JOIN proposals
  ON proposals.host = logs.host
LEFT JOIN complaints
  ON complaints.host = logs.host
LEFT JOIN longest
  ON longest.host = logs.host
WHERE
  logs.host <> '' AND logs.objects > 0;
