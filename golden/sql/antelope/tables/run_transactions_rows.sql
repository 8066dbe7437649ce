CREATE TEMPORARY TABLE run_transactions_rows AS
SELECT
  base.*
FROM transaction_statistics AS base;
