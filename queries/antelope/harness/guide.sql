-- The number of blocks of each phase.
SELECT
    blocks.host,
    arg_min(blocks.number, blocks.place) AS first_block,
    arg_max(blocks.number, blocks.place) AS last_block,
    count(*) AS total_blocks,
    arg_min(blocks.number, blocks.place) FILTER (WHERE blocks.of_test) AS test_start_block,
    arg_max(blocks.number, blocks.place) FILTER (WHERE blocks.of_test) AS test_end_block,
    count(*) FILTER (WHERE phases.phase = 'set-up') AS setup_blocks,
    count(*) FILTER (WHERE phases.phase = 'tear-down') AS tear_down_blocks,
    count(*) FILTER (WHERE phases.phase = 'leading empty') AS leading_empty_blocks,
    count(*) FILTER (WHERE phases.phase = 'trailing empty') AS trailing_empty_blocks,
    count(*) FILTER (WHERE phases.phase = 'dropped') AS dropped_blocks,
    count(*) FILTER (WHERE phases.phase = 'analysed') AS analysed_blocks,
    sum(blocks.transactions) FILTER (WHERE blocks.of_test)::BIGINT AS total_transactions,
    sum(blocks.net) FILTER (WHERE blocks.of_test)::BIGINT AS total_net,
    sum(blocks.cpu) FILTER (WHERE blocks.of_test)::BIGINT AS total_cpu,
    sum(blocks.elapsed) FILTER (WHERE blocks.of_test)::BIGINT AS total_elapsed,
    sum(blocks.time_taken) FILTER (WHERE blocks.of_test)::BIGINT AS total_time,
    sum(blocks.latency) FILTER (WHERE blocks.of_test)::BIGINT AS total_latency
FROM blocks
INNER JOIN phases ON phases.place = blocks.place
GROUP BY blocks.host
