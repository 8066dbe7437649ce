-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE reported_experiments AS
/* The experiments of the load tool's own summaries, in the order of the files. */
/* A list of experiments and the table of the same experiments have the same rows: the first counts. */
/* The tool computes the standard deviation of a single latency as NaN, and prints that as a duration. */
WITH summaries AS (
  SELECT
    host,
    seq,
    experiment_id,
    connections,
    rate,
    size,
    valid_txs,
    negative_latencies,
    latency_min,
    latency_max,
    latency_avg,
    CASE WHEN valid_txs > 1 THEN latency_stddev END AS latency_stddev,
    ROW_NUMBER() OVER (
      PARTITION BY experiment_id, connections, rate, size, valid_txs, negative_latencies, latency_min, latency_max, latency_avg, latency_stddev
      ORDER BY host, seq
    ) AS place
  FROM reported
)
SELECT
  experiment_id,
  ROW_NUMBER() OVER (ORDER BY host, seq) AS number,
  connections,
  rate,
  size,
  valid_txs,
  negative_latencies,
  latency_min,
  latency_max,
  latency_avg,
  latency_stddev,
  connections * rate * (
    $experiment_length - 1
  ) AS expected_txs
FROM summaries
WHERE
  place = 1;
