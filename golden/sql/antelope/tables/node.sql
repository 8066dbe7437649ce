CREATE TEMPORARY TABLE node AS
SELECT
  base.*,
  TRUE AS accepted
FROM node_rows AS base;
