CREATE TEMPORARY TABLE block AS
SELECT
  base.*,
  TRUE AS accepted
FROM block_rows AS base;
