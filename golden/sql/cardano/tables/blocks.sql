CREATE TEMPORARY TABLE blocks AS
/* The forger and the observers of each block: one row per host, whose first event of the block decides its role. */
WITH forgings AS (
  SELECT
    host,
    block,
    ARG_MIN(block_no, seq) AS block_no,
    ARG_MIN(slot, seq) AS slot,
    ARG_MIN(block_prev, seq) AS block_prev
  FROM block_forged
  GROUP BY
    host,
    block
), headers AS (
  SELECT
    host,
    block,
    ARG_MIN(block_no, seq) AS block_no,
    ARG_MIN(slot, seq) AS slot
  FROM header_seen
  GROUP BY
    host,
    block
)
SELECT
  roles.host,
  roles.block,
  roles.role,
  forgings.block_no,
  forgings.slot,
  forgings.block_prev
FROM roles
INNER JOIN forgings
  ON forgings.host = roles.host AND forgings.block = roles.block
WHERE
  roles.role = 'forger'
UNION ALL
SELECT
  roles.host,
  roles.block,
  roles.role,
  headers.block_no,
  headers.slot,
  NULL AS block_prev
FROM roles
INNER JOIN headers
  ON headers.host = roles.host AND headers.block = roles.block
WHERE
  roles.role = 'observer';
