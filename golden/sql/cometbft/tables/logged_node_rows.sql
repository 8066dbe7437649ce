CREATE TEMPORARY TABLE logged_node_rows AS
SELECT
  base.*
FROM nodes_logged AS base;
