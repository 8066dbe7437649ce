CREATE TEMPORARY TABLE window_blocks AS
/* The analysed blocks, each with the time since the first. */
SELECT
  blocks.host,
  blocks.place,
  blocks.number,
  blocks.producer,
  blocks.logged_at - MIN(blocks.logged_at) OVER () AS since_start,
  blocks.transactions,
  blocks.net,
  blocks.cpu,
  blocks.elapsed,
  blocks.time_taken,
  blocks.latency
FROM blocks
INNER JOIN phases
  ON phases.place = blocks.place
WHERE
  phases.phase = 'analysed';
