CREATE TEMPORARY TABLE observation_rows AS
WITH bound AS (
  SELECT
    base.*,
    noticed.t_ns AS noticed,
    noticed.slot AS noticed_slot,
    requested.t_ns AS requested,
    requested.length AS requested_length,
    fetched.t_ns AS fetched,
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
      ARG_MIN_NULL(t_ns, seq) AS t_ns,
      ARG_MIN_NULL(chain_delta, seq) AS chain_delta
    FROM block_adopted
    GROUP BY
      host,
      block
  ) AS adopted
    ON adopted.host = base.host AND adopted.block = base.block
)
SELECT
  *,
  NOT noticed IS NULL AND NOT requested IS NULL AND NOT fetched IS NULL AS complete
FROM bound;
