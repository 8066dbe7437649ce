CREATE TEMPORARY TABLE observer AS
/* The node whose log provides the blocks: the first that receives blocks and produces none; else the first that */
/* receives any; else the first that logs any. */
SELECT
  host
FROM (
  SELECT
    host,
    COUNT(*) FILTER(WHERE
      origin = 'received') AS received,
    COUNT(*) FILTER(WHERE
      origin = 'produced') AS produced
  FROM block
  GROUP BY
    host
)
ORDER BY
  received = 0,
  produced > 0,
  host
LIMIT 1;
