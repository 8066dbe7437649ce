CREATE TEMPORARY TABLE adoption AS
SELECT
  base.*,
  block.accepted AS accepted
FROM adoption_rows AS base
INNER JOIN block
  ON block.block = base.block;
