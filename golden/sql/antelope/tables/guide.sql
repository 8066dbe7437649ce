CREATE TEMPORARY TABLE guide AS
/* The number of blocks of each phase. */
SELECT
  blocks.host,
  ARG_MIN(blocks.number, blocks.place) AS first_block,
  ARG_MAX(blocks.number, blocks.place) AS last_block,
  COUNT(*) AS total_blocks,
  ARG_MIN(blocks.number, blocks.place) FILTER(WHERE
    blocks.of_test) AS test_start_block,
  ARG_MAX(blocks.number, blocks.place) FILTER(WHERE
    blocks.of_test) AS test_end_block,
  COUNT(*) FILTER(WHERE
    phases.phase = 'set-up') AS setup_blocks,
  COUNT(*) FILTER(WHERE
    phases.phase = 'tear-down') AS tear_down_blocks,
  COUNT(*) FILTER(WHERE
    phases.phase = 'leading empty') AS leading_empty_blocks,
  COUNT(*) FILTER(WHERE
    phases.phase = 'trailing empty') AS trailing_empty_blocks,
  COUNT(*) FILTER(WHERE
    phases.phase = 'dropped') AS dropped_blocks,
  COUNT(*) FILTER(WHERE
    phases.phase = 'analysed') AS analysed_blocks,
  CAST(SUM(blocks.transactions) FILTER(WHERE
    blocks.of_test) AS BIGINT) AS total_transactions,
  CAST(SUM(blocks.net) FILTER(WHERE
    blocks.of_test) AS BIGINT) AS total_net,
  CAST(SUM(blocks.cpu) FILTER(WHERE
    blocks.of_test) AS BIGINT) AS total_cpu,
  CAST(SUM(blocks.elapsed) FILTER(WHERE
    blocks.of_test) AS BIGINT) AS total_elapsed,
  CAST(SUM(blocks.time_taken) FILTER(WHERE
    blocks.of_test) AS BIGINT) AS total_time,
  CAST(SUM(blocks.latency) FILTER(WHERE
    blocks.of_test) AS BIGINT) AS total_latency
FROM blocks
INNER JOIN phases
  ON phases.place = blocks.place
GROUP BY
  blocks.host;
