CREATE TEMPORARY TABLE block AS
SELECT
  base.*,
  COALESCE(base.adopted_chain_delta = 1, FALSE) AS passes_1, /* unitary */
  COALESCE(base.adopted_chain_delta = 1, FALSE) AS accepted
FROM block_rows AS base;
