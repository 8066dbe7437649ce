CREATE TEMPORARY VIEW block_sent AS
SELECT
  host,
  seq,
  t_ns
FROM READ_PARQUET('events/block_sent/*.parquet')
WHERE
  whole;
