CREATE TEMPORARY TABLE clients_point_rows AS
SELECT
  base.*
FROM p2p_clients_series AS base;
