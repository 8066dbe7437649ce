CREATE TEMPORARY TABLE node_blocks AS
/* The blocks that each node committed. A node is in consensus from the time that it caught up until its next start; a */
/* log that begins later counts as in consensus. The interval is the time since the previous block, both committed in */
/* consensus. */
WITH marks AS (
  SELECT
    host,
    seq,
    t_ns,
    CAST(NULL AS BIGINT) AS height,
    FALSE AS joins
  FROM started
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    NULL,
    TRUE
  FROM caught_up
  UNION ALL
  SELECT
    host,
    seq,
    t_ns,
    height,
    NULL
  FROM committed
), placed AS (
  SELECT
    host,
    seq,
    t_ns,
    height,
    COALESCE(LAST_VALUE(joins IGNORE NULLS) OVER (PARTITION BY host ORDER BY seq), TRUE) AS in_consensus
  FROM marks
), firsts AS (
  SELECT
    host,
    height,
    ARG_MIN(t_ns, seq) AS committed_at,
    ARG_MIN(in_consensus, seq) AS in_consensus
  FROM placed
  WHERE
    NOT height IS NULL
  GROUP BY
    host,
    height
), followed AS (
  SELECT
    *,
    LAG(height) OVER (PARTITION BY host ORDER BY height) AS height_before,
    LAG(committed_at) OVER (PARTITION BY host ORDER BY height) AS committed_before,
    LAG(in_consensus) OVER (PARTITION BY host ORDER BY height) AS in_consensus_before
  FROM firsts
)
SELECT
  host AS node,
  height,
  committed_at,
  in_consensus,
  CASE
    WHEN in_consensus AND in_consensus_before AND height_before = height - 1
    THEN committed_at - committed_before
  END AS block_interval
FROM followed;
