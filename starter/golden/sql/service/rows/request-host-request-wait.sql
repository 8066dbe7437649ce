SELECT
  host,
  request,
  at_work_started - at_request_received AS "wait"
FROM request
WHERE
  accepted
ORDER BY
  host,
  request;
