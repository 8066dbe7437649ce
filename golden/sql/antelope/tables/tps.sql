CREATE TEMPORARY TABLE tps AS
/* Transactions per second over all pairs of adjacent blocks. An empty block counts if it begins a pair, so the last */
/* block never does. Sums are exact; the standard deviation is that of the population. */
SELECT
  guide.host,
  MIN(tps) AS tps_min,
  MAX(tps) AS tps_max,
  CAST(SUM(tps) AS DOUBLE) / COUNT(tps) AS tps_avg,
  SQRT(
    CAST((
      COUNT(tps) * SUM(CAST(tps AS INT128) * tps) - SUM(tps) * SUM(tps)
    ) AS DOUBLE)
  ) / COUNT(tps) AS tps_sigma,
  COUNT(*) FILTER(WHERE
    empty) AS tps_empty_blocks
FROM guide
LEFT JOIN pairs
  ON pairs.host = guide.host
GROUP BY
  guide.host;
