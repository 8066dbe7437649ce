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
  block.time_taken,
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
