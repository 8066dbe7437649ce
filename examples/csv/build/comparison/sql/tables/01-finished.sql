CREATE TEMPORARY VIEW finished AS
SELECT
  host,
  seq,
  t_ns,
  job,
  memory,
  ok,
  region,
  rows,
  seconds
FROM READ_PARQUET('events/finished/*.parquet')
WHERE
  whole;
