CREATE TEMPORARY TABLE window_block AS
SELECT
  base.*,
  TRUE AS accepted
FROM window_block_rows AS base;
