CREATE TEMPORARY TABLE run_transactions AS
/* The transactions of the load, all with the clock of the time series. */
SELECT
  windows.name,
  loaded.seq AS place,
  loaded.block_time - windows.from_ns AS since_begin,
  loaded.duration_ns AS latency
FROM loaded
CROSS JOIN windows;
