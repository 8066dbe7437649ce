CREATE TEMPORARY TABLE run_blocks AS
SELECT
  base.*,
  TRUE AS accepted
FROM run_blocks_rows AS base;
