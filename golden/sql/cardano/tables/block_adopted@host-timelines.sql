CREATE TEMPORARY VIEW block_adopted AS
SELECT
  host,
  seq,
  t_ns
FROM READ_PARQUET('events/block_adopted/*.parquet')
WHERE
  whole;
