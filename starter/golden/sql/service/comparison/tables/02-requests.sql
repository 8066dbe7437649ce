CREATE TEMPORARY TABLE requests AS
/* One row for each request that came in. */
SELECT
  host,
  request
FROM request_received
GROUP BY
  host,
  request;
