CREATE TEMPORARY TABLE jobs_records AS
SELECT
  host,
  seq,
  region,
  job,
  rows,
  seconds,
  memory,
  ok
FROM finished;
