CREATE TEMPORARY TABLE jobs_rows AS
SELECT
  base.*,
  "at".t_ns AS "at"
FROM jobs_records AS base
LEFT JOIN (
  SELECT
    host,
    seq,
    ARG_MIN_NULL(t_ns, seq) AS t_ns
  FROM finished
  GROUP BY
    host,
    seq
) AS "at"
  ON "at".host = base.host AND "at".seq = base.seq;
