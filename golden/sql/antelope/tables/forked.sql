CREATE TEMPORARY VIEW forked AS
SELECT
  host,
  seq,
  t_ns,
  from_number,
  to_number
FROM READ_PARQUET('events/forked/*.parquet')
WHERE
  whole;
