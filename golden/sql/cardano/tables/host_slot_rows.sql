CREATE TEMPORARY TABLE host_slot_rows AS
SELECT
  base.*
FROM host_activity AS base;
