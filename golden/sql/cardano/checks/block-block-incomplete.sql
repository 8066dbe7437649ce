/* Blocks of the main chain without a record of the start of the forge loop, the leadership or the size. */
SELECT
  block.block,
  block.block_no,
  block.forger,
  CONCAT_WS(
    ', ',
    CASE WHEN block.started IS NULL THEN 'start of the forge loop' END,
    CASE WHEN block."leading" IS NULL THEN 'leadership' END,
    CASE WHEN block.size IS NULL THEN 'size' END
  ) AS missing
FROM block
WHERE
  block.started IS NULL OR block."leading" IS NULL OR block.size IS NULL
ORDER BY
  block.block_no;
