CREATE TEMPORARY TABLE run_transaction_rows AS
SELECT
  base.*
FROM run_transactions AS base;
