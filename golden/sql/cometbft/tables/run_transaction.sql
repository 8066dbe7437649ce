CREATE TEMPORARY TABLE run_transaction AS
SELECT
  base.*,
  TRUE AS accepted
FROM run_transaction_rows AS base;
