CREATE TEMPORARY TABLE transaction AS
SELECT
  base.*,
  TRUE AS accepted
FROM transaction_rows AS base;
