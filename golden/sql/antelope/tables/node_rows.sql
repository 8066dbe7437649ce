CREATE TEMPORARY TABLE node_rows AS
SELECT
  base.*
FROM nodes AS base;
