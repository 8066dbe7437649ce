CREATE TEMPORARY TABLE peers_point_rows AS
SELECT
  base.*
FROM p2p_peers_series AS base;
