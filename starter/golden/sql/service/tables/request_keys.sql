CREATE TEMPORARY TABLE request_keys AS
SELECT
  host,
  request
FROM request_received
WHERE
  NOT request IS NULL
UNION
SELECT
  host,
  request
FROM work_started
WHERE
  NOT request IS NULL
UNION
SELECT
  host,
  request
FROM response_sent
WHERE
  NOT request IS NULL;
