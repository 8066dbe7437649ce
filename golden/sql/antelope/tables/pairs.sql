CREATE TEMPORARY TABLE pairs AS
/* Pairs of adjacent blocks: each block covers half a second, so a pair has the transactions of one second. With a */
/* single block in the window, that block counts alone. */
WITH followed AS (
  SELECT
    host,
    place,
    number,
    since_start,
    transactions,
    LEAD(transactions) OVER (ORDER BY place) AS following,
    COUNT(*) OVER () AS size
  FROM window_blocks
)
SELECT
  host,
  place,
  number,
  since_start,
  transactions + COALESCE(following, 0) AS tps,
  transactions = 0 AS empty
FROM followed
WHERE
  NOT following IS NULL OR size = 1;
