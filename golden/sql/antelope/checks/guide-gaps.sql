/* Blocks that are missing between the first and the last, or are in the log more than once. */
SELECT
  host,
  total_blocks,
  first_block,
  last_block,
  last_block - first_block + 1 AS due
FROM guide
WHERE
  total_blocks <> last_block - first_block + 1;
