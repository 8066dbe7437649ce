CREATE TEMPORARY TABLE chain AS
/* The main chain: from the block below the highest block down to block 0, along the hashes of the parents. */
/* The highest block is left out, because the run may end before it has propagated. */
WITH RECURSIVE forged AS (
  SELECT
    block,
    ARG_MIN(block_no, host) AS block_no,
    ARG_MIN(slot, host) AS slot,
    ARG_MIN(block_prev, host) AS block_prev,
    MIN(host) AS forger
  FROM blocks
  WHERE
    role = 'forger'
  GROUP BY
    block
), highest AS (
  SELECT
    block
  FROM blocks
  ORDER BY
    block_no DESC,
    role,
    host,
    block
  LIMIT 1
), chain AS (
  SELECT
    forged.block,
    forged.block_no,
    forged.slot,
    forged.block_prev,
    forged.forger
  FROM forged
  WHERE
    forged.block = (
      SELECT
        top.block_prev
      FROM forged AS top
      INNER JOIN highest
        ON highest.block = top.block
    )
  UNION ALL
  SELECT
    parent.block,
    parent.block_no,
    parent.slot,
    parent.block_prev,
    parent.forger
  FROM chain
  INNER JOIN forged AS parent
    ON parent.block = chain.block_prev
), rivals AS (
  SELECT
    block_no,
    COUNT(DISTINCT block) AS hashes
  FROM blocks
  GROUP BY
    block_no
)
SELECT
  chain.block,
  chain.block_no,
  chain.slot,
  chain.block_prev,
  chain.forger,
  rivals.hashes - 1 AS battles
FROM chain
INNER JOIN rivals
  ON rivals.block_no = chain.block_no;
