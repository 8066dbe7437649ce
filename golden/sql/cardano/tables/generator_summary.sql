CREATE TEMPORARY VIEW generator_summary AS
SELECT
  host,
  seq,
  t_ns
FROM READ_PARQUET('events/generator_summary/*.parquet')
WHERE
  whole;
