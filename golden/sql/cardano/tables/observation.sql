CREATE TEMPORARY TABLE observation AS
SELECT
  base.*,
  block.accepted AS accepted
FROM observation_rows AS base
INNER JOIN block
  ON block.block = base.block;
