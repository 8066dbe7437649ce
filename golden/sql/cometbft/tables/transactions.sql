CREATE TEMPORARY TABLE transactions AS
/* The transactions of the load, with times since the start of their experiment. */
SELECT
  loaded.experiment_id,
  loaded.seq AS place,
  loaded.connections,
  loaded.rate,
  loaded.block_time,
  loaded.block_time - experiments.first_sent AS since_start,
  loaded.duration_ns AS latency
FROM loaded
INNER JOIN experiments
  ON experiments.experiment_id = loaded.experiment_id;
