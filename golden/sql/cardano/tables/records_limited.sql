CREATE TEMPORARY VIEW records_limited AS
SELECT
  host,
  seq,
  t_ns,
  dropped,
  number
FROM READ_PARQUET('events/records_limited/*.parquet')
WHERE
  whole;
