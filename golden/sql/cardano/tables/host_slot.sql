CREATE TEMPORARY TABLE host_slot AS
SELECT
  base.*,
  TRUE AS accepted
FROM host_slot_rows AS base;
