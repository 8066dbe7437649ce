/* Blocks without a forger: on the path from the highest block down to block 0, or observed by hosts at a block number */
/* of that path. */
WITH forgers AS (
  SELECT DISTINCT
    block
  FROM blocks
  WHERE
    role = 'forger'
), highest AS (
  SELECT
    block,
    block_no
  FROM blocks
  ORDER BY
    block_no DESC,
    role,
    host,
    block
  LIMIT 1
), seen AS (
  SELECT
    block,
    block_no,
    host
  FROM header_seen
  UNION
  SELECT
    block,
    block_no,
    host
  FROM block_forged
), needed AS (
  SELECT
    block
  FROM highest
  UNION
  SELECT
    block_prev AS block
  FROM chain
  WHERE
    block_no > 0
  UNION
  SELECT
    parents.block_prev AS block
  FROM blocks AS parents
  INNER JOIN highest
    ON highest.block = parents.block
  WHERE
    parents.role = 'forger' AND parents.block_no > 0
  UNION
  SELECT
    blocks.block
  FROM blocks
  INNER JOIN chain
    ON chain.block_no = blocks.block_no
)
SELECT
  needed.block,
  MIN(seen.block_no) AS block_no,
  COALESCE(LISTAGG(DISTINCT seen.host, ', '
  ORDER BY
    seen.host), 'no host') AS hosts
FROM needed
ANTI JOIN forgers
  ON forgers.block = needed.block
LEFT JOIN seen
  ON seen.block = needed.block
GROUP BY
  needed.block
ORDER BY
  block_no,
  needed.block;
