CREATE TEMPORARY TABLE node_block_rows AS
SELECT
  base.*
FROM node_blocks AS base;
