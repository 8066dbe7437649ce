CREATE TEMPORARY TABLE pairs AS
/* Two adjacent blocks of half a second each: what they hold together is transactions a second. A window of one block */
/* counts as that block. */
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
