CREATE TEMPORARY TABLE block_on_host AS
SELECT
  base.*,
  block.accepted AS accepted
FROM block_on_host_rows AS base
INNER JOIN block
  ON block.block = base.block;
