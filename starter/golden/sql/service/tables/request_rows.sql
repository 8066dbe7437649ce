CREATE TEMPORARY TABLE request_rows AS
SELECT
  base.*,
  at_request_received.t_ns AS at_request_received,
  at_work_started.t_ns AS at_work_started,
  at_response_sent.t_ns AS at_response_sent,
  at_response_sent.bytes AS at_response_sent_bytes
FROM request_keys AS base
LEFT JOIN (
  SELECT
    host,
    request,
    ARG_MIN_NULL(t_ns, seq) AS t_ns
  FROM request_received
  GROUP BY
    host,
    request
) AS at_request_received
  ON at_request_received.host = base.host
  AND at_request_received.request = base.request
LEFT JOIN (
  SELECT
    host,
    request,
    ARG_MIN_NULL(t_ns, seq) AS t_ns
  FROM work_started
  GROUP BY
    host,
    request
) AS at_work_started
  ON at_work_started.host = base.host AND at_work_started.request = base.request
LEFT JOIN (
  SELECT
    host,
    request,
    ARG_MIN_NULL(t_ns, seq) AS t_ns,
    ARG_MIN_NULL(bytes, seq) AS bytes
  FROM response_sent
  GROUP BY
    host,
    request
) AS at_response_sent
  ON at_response_sent.host = base.host AND at_response_sent.request = base.request;
