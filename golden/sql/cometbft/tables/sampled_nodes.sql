CREATE TEMPORARY TABLE sampled_nodes AS
/* What the samples of each node say over the time of all experiments, at each second. NaN and infinity count nothing. */
WITH peers AS (
  SELECT
    job,
    instance,
    CAST(MIN(value) AS BIGINT) AS least_peers,
    CAST(MAX(value) AS BIGINT) AS most_peers
  FROM peer_count
  WHERE
    ISFINITE(value)
  GROUP BY
    job,
    instance
), rounds AS (
  SELECT
    job,
    instance,
    CAST(MAX(value) AS BIGINT) AS highest_round
  FROM round_count
  WHERE
    ISFINITE(value)
  GROUP BY
    job,
    instance
), blocks AS (
  SELECT
    job,
    instance,
    AVG(value ORDER BY t_ns, value) AS block_rate
  FROM block_rate
  WHERE
    ISFINITE(value)
  GROUP BY
    job,
    instance
), mempools AS (
  SELECT
    job,
    instance,
    AVG(value ORDER BY t_ns, value) AS mempool_size
  FROM mempool_size
  WHERE
    ISFINITE(value)
  GROUP BY
    job,
    instance
), memories AS (
  SELECT
    job,
    instance,
    CAST(MAX(value) AS BIGINT) AS most_memory
  FROM node_memory
  WHERE
    ISFINITE(value)
  GROUP BY
    job,
    instance
)
SELECT
  peers.job,
  peers.instance,
  peers.least_peers,
  peers.most_peers,
  rounds.highest_round,
  blocks.block_rate,
  mempools.mempool_size,
  memories.most_memory
FROM peers
LEFT JOIN rounds
  ON rounds.job = peers.job AND rounds.instance = peers.instance
LEFT JOIN blocks
  ON blocks.job = peers.job AND blocks.instance = peers.instance
LEFT JOIN mempools
  ON mempools.job = peers.job AND mempools.instance = peers.instance
LEFT JOIN memories
  ON memories.job = peers.job AND memories.instance = peers.instance;
