CREATE TEMPORARY TABLE run_blocks_rows AS
SELECT
  base.*
FROM block_statistics AS base;
