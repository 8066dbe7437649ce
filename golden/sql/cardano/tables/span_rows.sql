CREATE TEMPORARY TABLE span_rows AS
WITH accepted_rows AS (
  SELECT
    host,
    slot,
    epoch_slot,
    cpu >= 85 OR cpu IS NULL AS holds,
    ROW_NUMBER() OVER (PARTITION BY host ORDER BY slot) AS place
  FROM slot
  WHERE
    accepted
), holding AS (
  SELECT
    host,
    slot,
    epoch_slot,
    place - ROW_NUMBER() OVER (PARTITION BY host ORDER BY slot) AS island
  FROM accepted_rows
  WHERE
    holds
)
SELECT
  host,
  MIN(slot) AS first,
  MAX(slot) AS last,
  COUNT(*) AS length,
  ARG_MIN_NULL(epoch_slot, slot) AS first_epoch_slot,
  ARG_MAX_NULL(epoch_slot, slot) AS last_epoch_slot
FROM holding
GROUP BY
  host,
  island;
