-- The blocks of the observing node's log, in its order, and those that are of the test.
SELECT
    block.host,
    block.seq AS place,
    block.t_ns AS told_at,
    block.number,
    block.producer,
    block.transactions,
    block.net,
    block.cpu,
    block.elapsed,
    block.time_taken,
    block.latency,
    ($test_start < 0 OR block.number >= $test_start) AND ($test_end < 0 OR block.number <= $test_end) AS of_test
FROM block
SEMI JOIN observer ON observer.host = block.host
