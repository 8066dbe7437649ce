-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE blocks AS
/* The blocks in the log of the observer, in the order of the log; `of_test` selects those of the test. */
SELECT
  block.host,
  block.seq AS place,
  block.t_ns AS logged_at,
  block.number,
  block.producer,
  block.transactions,
  block.net,
  block.cpu,
  block.elapsed,
  CASE WHEN block.time_taken < 1000000000000 THEN block.time_taken END AS time_taken, /* Spring 1.0.0 and 1.0.1 log the time since 1970 of a block that they produce; no block takes 11 days. */
  block.latency,
  (
    $test_start < 0 OR block.number >= $test_start
  )
  AND (
    $test_end < 0 OR block.number <= $test_end
  ) AS of_test
FROM block
SEMI JOIN observer
  ON observer.host = block.host;
