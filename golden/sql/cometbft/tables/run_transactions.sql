CREATE TEMPORARY TABLE run_transactions AS
/* The transactions of the load, with times since the start of the series. */
SELECT
  windows.name,
  loaded.seq AS place,
  loaded.block_time - windows.from_ns AS since_begin,
  loaded.duration_ns AS latency
FROM loaded
CROSS JOIN windows;
