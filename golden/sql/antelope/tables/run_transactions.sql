CREATE TEMPORARY TABLE run_transactions AS
SELECT
  base.*,
  TRUE AS accepted
FROM run_transactions_rows AS base;
