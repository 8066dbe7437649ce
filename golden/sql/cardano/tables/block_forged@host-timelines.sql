CREATE TEMPORARY VIEW block_forged AS
SELECT
  host,
  seq,
  t_ns,
  slot
FROM READ_PARQUET('events/block_forged/*.parquet')
WHERE
  whole;
