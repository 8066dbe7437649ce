-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE observation_rows AS
WITH bound AS (
  SELECT
    base.*,
    noticed.t_ns AS noticed,
    noticed.slot AS noticed_slot,
    requested.t_ns AS requested,
    requested.length AS requested_length,
    fetched.t_ns AS fetched,
    announced.t_ns AS announced,
    sending.t_ns AS sending,
    adopted.t_ns AS adopted,
    adopted.chain_delta AS adopted_chain_delta
  FROM observations AS base
  LEFT JOIN (
    SELECT
      host,
      block,
      ARG_MIN_NULL(t_ns, seq) AS t_ns,
      ARG_MIN_NULL(slot, seq) AS slot
    FROM header_seen
    GROUP BY
      host,
      block
  ) AS noticed
    ON noticed.host = base.host AND noticed.block = base.block
  LEFT JOIN (
    SELECT
      host,
      block,
      ARG_MIN_NULL(t_ns, seq) AS t_ns,
      ARG_MIN_NULL(length, seq) AS length
    FROM fetch_requested
    GROUP BY
      host,
      block
  ) AS requested
    ON requested.host = base.host AND requested.block = base.block
  LEFT JOIN (
    SELECT
      host,
      block,
      ARG_MIN_NULL(t_ns, seq) AS t_ns
    FROM fetch_completed
    GROUP BY
      host,
      block
  ) AS fetched
    ON fetched.host = base.host AND fetched.block = base.block
  LEFT JOIN (
    SELECT
      host,
      block,
      ARG_MIN_NULL(t_ns, seq) AS t_ns
    FROM header_announced
    GROUP BY
      host,
      block
  ) AS announced
    ON announced.host = base.host AND announced.block = base.block
  LEFT JOIN (
    SELECT
      host,
      block,
      ARG_MIN_NULL(t_ns, seq) AS t_ns
    FROM block_sent
    GROUP BY
      host,
      block
  ) AS sending
    ON sending.host = base.host AND sending.block = base.block
  LEFT JOIN (
    SELECT
      host,
      block,
      ARG_MIN_NULL(t_ns, seq) AS t_ns,
      ARG_MIN_NULL(chain_delta, seq) AS chain_delta
    FROM block_adopted
    GROUP BY
      host,
      block
  ) AS adopted
    ON adopted.host = base.host AND adopted.block = base.block
), computed_1 AS (
  SELECT
    *,
    $system_start + (
      noticed_slot * $slot_length
    ) AS slot_start,
    NOT noticed IS NULL AND NOT requested IS NULL AND NOT fetched IS NULL AS complete,
    GREATEST(requested_length, adopted_chain_delta) AS chain_delta
  FROM bound
)
SELECT
  *,
  complete
  AND NOT adopted IS NULL
  AND noticed >= slot_start
  AND requested >= noticed
  AND fetched >= requested
  AND adopted >= fetched
  AND chain_delta = 1 AS valid
FROM computed_1;
