SELECT
  host,
  forked_blocks,
  dropped_blocks,
  received AS "received",
  produced AS "produced",
  forks AS "forks",
  dropped AS "blocks_dropped"
FROM node
ORDER BY
  host;
