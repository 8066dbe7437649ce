/* Runs without an analysed block. */
SELECT
  host,
  total_blocks
FROM guide
WHERE
  analysed_blocks = 0;
