CREATE TEMPORARY TABLE sampled_node_rows AS
SELECT
  base.*
FROM sampled_nodes AS base;
