-- `$name` stands for a constant of the run; constants.json has the values.
/* Hosts whose first records of blocks differ from those of the other hosts by 1 s or more in the median of the blocks, */
/* although their leadership checks do not: a node with a wrong clock checks at the start of slots by that clock. */
WITH records AS (
  SELECT
    host,
    block,
    t_ns,
    slot
  FROM header_seen
  UNION ALL
  SELECT
    host,
    block,
    t_ns,
    slot
  FROM block_forged
), first_records AS (
  SELECT
    host,
    block,
    MIN(t_ns - (
      $system_start + slot * $slot_length
    )) AS late
  FROM records
  GROUP BY
    host,
    block
), hosts AS (
  SELECT
    host,
    QUANTILE_DISC(late, 0.5) AS late,
    COUNT(*) AS blocks
  FROM first_records
  GROUP BY
    host
), middle AS (
  SELECT
    QUANTILE_DISC(late, 0.5) AS lower_late,
    -QUANTILE_DISC(-late, 0.5) AS upper_late
  FROM hosts
), distances AS (
  SELECT
    hosts.host,
    hosts.blocks,
    hosts.late - CASE
      WHEN ABS(middle.lower_late) <= ABS(middle.upper_late)
      THEN middle.lower_late
      ELSE middle.upper_late
    END AS apart
  FROM hosts
  CROSS JOIN middle
)
SELECT
  distances.host,
  distances.blocks,
  (
    ABS(distances.apart) + 50000000
  ) // 1000000000 || '.' || (
    ABS(distances.apart) + 50000000
  ) // 100000000 % 10 || CASE WHEN distances.apart > 0 THEN ' s ahead of' ELSE ' s behind' END AS distance
FROM distances
LEFT JOIN clocks
  ON clocks.host = distances.host
WHERE
  ABS(distances.apart) >= 1000000000 AND COALESCE(ABS(clocks.apart), 0) < 100000000
ORDER BY
  ABS(distances.apart) DESC,
  distances.host;
