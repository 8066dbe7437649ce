CREATE TEMPORARY TABLE roles AS
/* The role of a host for a block hash: its first event of the hash decides, and some later events revoke it. */
WITH sightings AS (
  SELECT
    host,
    block,
    seq,
    'forged' AS sighting
  FROM block_forged
  UNION ALL
  SELECT
    host,
    block,
    seq,
    'seen'
  FROM header_seen
  UNION ALL
  SELECT
    host,
    block,
    seq,
    'requested'
  FROM fetch_requested
  UNION ALL
  SELECT
    host,
    block,
    seq,
    'other'
  FROM fetch_completed
  UNION ALL
  SELECT
    host,
    block,
    seq,
    'other'
  FROM header_announced
  UNION ALL
  SELECT
    host,
    block,
    seq,
    'other'
  FROM block_sent
  UNION ALL
  SELECT
    host,
    block,
    seq,
    'other'
  FROM block_adopted
), histories AS (
  SELECT
    host,
    block,
    ARG_MIN(sighting, seq) AS first_sighting,
    COUNT(CASE WHEN sighting = 'forged' THEN 1 END) AS forgings,
    COUNT(CASE WHEN sighting = 'requested' THEN 1 END) AS requests
  FROM sightings
  GROUP BY
    host,
    block
)
SELECT
  host,
  block,
  CASE
    WHEN first_sighting = 'forged' AND forgings = 1 AND requests = 0
    THEN 'forger'
    WHEN first_sighting = 'seen' AND forgings = 0
    THEN 'observer'
    ELSE 'error'
  END AS role
FROM histories;
