-- Transactions per second over all pairs of adjacent blocks. An empty block counts if it begins a pair, so the last
-- block never does. Sums are exact; the standard deviation is that of the population.
SELECT
    guide.host,
    min(tps) AS tps_min,
    max(tps) AS tps_max,
    sum(tps)::DOUBLE / count(tps) AS tps_avg,
    sqrt((count(tps) * sum(tps::HUGEINT * tps) - sum(tps) * sum(tps))::DOUBLE) / count(tps) AS tps_sigma,
    count(*) FILTER (WHERE empty) AS tps_empty_blocks
FROM guide
LEFT JOIN pairs ON pairs.host = guide.host
GROUP BY guide.host
