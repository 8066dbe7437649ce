CREATE TEMPORARY VIEW block AS
SELECT
  host,
  seq,
  t_ns,
  cpu,
  elapsed,
  latency,
  net,
  number,
  origin,
  producer,
  time_taken,
  transactions
FROM READ_PARQUET('events/block/*.parquet')
WHERE
  whole;
