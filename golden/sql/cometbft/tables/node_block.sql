CREATE TEMPORARY TABLE node_block AS
SELECT
  base.*,
  TRUE AS accepted
FROM node_block_rows AS base;
