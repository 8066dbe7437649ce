CREATE TEMPORARY TABLE window_blocks AS
/* The blocks that are analysed, each with the time since the first of them. */
SELECT
  blocks.host,
  blocks.place,
  blocks.number,
  blocks.producer,
  blocks.told_at - MIN(blocks.told_at) OVER () AS since_start,
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
