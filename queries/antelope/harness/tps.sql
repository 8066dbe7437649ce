-- Transactions a second over all pairs of adjacent blocks. An empty block is counted where it begins a pair, so that the
-- last one never is. Sums are exact; the deviation is that of the population.
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
