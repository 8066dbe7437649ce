CREATE TEMPORARY TABLE incoming_point_rows AS
SELECT
  base.*
FROM transactions_incoming_series AS base;
