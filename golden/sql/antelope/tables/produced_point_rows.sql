CREATE TEMPORARY TABLE produced_point_rows AS
SELECT
  base.*
FROM transactions_produced_series AS base;
