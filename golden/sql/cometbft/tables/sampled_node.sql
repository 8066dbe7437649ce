CREATE TEMPORARY TABLE sampled_node AS
SELECT
  base.*,
  TRUE AS accepted
FROM sampled_node_rows AS base;
