CREATE TEMPORARY TABLE logged_node AS
SELECT
  base.*,
  TRUE AS accepted
FROM logged_node_rows AS base;
