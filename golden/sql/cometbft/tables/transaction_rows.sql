CREATE TEMPORARY TABLE transaction_rows AS
SELECT
  base.*
FROM transactions AS base;
