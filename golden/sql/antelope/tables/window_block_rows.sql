CREATE TEMPORARY TABLE window_block_rows AS
SELECT
  base.*
FROM window_blocks AS base;
