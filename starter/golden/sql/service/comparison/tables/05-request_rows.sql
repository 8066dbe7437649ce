CREATE TEMPORARY TABLE request_rows AS
SELECT
  base.*,
  received.t_ns AS received,
  started.t_ns AS started,
  sent.t_ns AS sent,
  sent.bytes AS sent_bytes
FROM requests AS base
LEFT JOIN (
  SELECT
    host,
    request,
    ARG_MIN_NULL(t_ns, seq) AS t_ns
  FROM request_received
  GROUP BY
    host,
    request
) AS received
  ON received.host = base.host AND received.request = base.request
LEFT JOIN (
  SELECT
    host,
    request,
    ARG_MIN_NULL(t_ns, seq) AS t_ns
  FROM work_started
  GROUP BY
    host,
    request
) AS started
  ON started.host = base.host AND started.request = base.request
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
) AS sent
  ON sent.host = base.host AND sent.request = base.request;
