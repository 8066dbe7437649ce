CREATE TEMPORARY TABLE block_steps AS
/* How complete the steps of a block are on each of its hosts: how many lack their beginning or end, and how many end */
/* before they begin. The steps of the forger are announcing, sending and adopting, each from the forging on. The steps */
/* of an observer are noticing, from the start of the slot on, requesting, from the notice on, fetching, from the request */
/* on, and announcing, sending and adopting, each from the end of fetching on. */
/* Compatibility: the published analysis counts no step of the forge loop, though they may end before they begin, too. */
SELECT
  block.block,
  block.forger AS host,
  CAST((
    block.announced IS NULL
  ) AS BIGINT) + CAST((
    block.sending IS NULL
  ) AS BIGINT) + CAST((
    block.adopted IS NULL
  ) AS BIGINT) AS missing,
  CAST(COALESCE(block.announced < block.forged, FALSE) AS BIGINT) + CAST(COALESCE(block.sending < block.forged, FALSE) AS BIGINT) + CAST(COALESCE(block.adopted < block.forged, FALSE) AS BIGINT) AS negative
FROM block
UNION ALL
SELECT
  observation.block,
  observation.host,
  CAST((
    observation.requested IS NULL
  ) AS BIGINT) + CAST((
    observation.requested IS NULL OR observation.fetched IS NULL
  ) AS BIGINT) + CAST((
    observation.fetched IS NULL OR observation.announced IS NULL
  ) AS BIGINT) + CAST((
    observation.fetched IS NULL OR observation.sending IS NULL
  ) AS BIGINT) + CAST((
    observation.fetched IS NULL OR observation.adopted IS NULL
  ) AS BIGINT) AS missing,
  CAST(COALESCE(observation.noticed < observation.slot_start, FALSE) AS BIGINT) + CAST(COALESCE(observation.requested < observation.noticed, FALSE) AS BIGINT) + CAST(COALESCE(observation.fetched < observation.requested, FALSE) AS BIGINT) + CAST(COALESCE(observation.announced < observation.fetched, FALSE) AS BIGINT) + CAST(COALESCE(observation.sending < observation.fetched, FALSE) AS BIGINT) + CAST(COALESCE(observation.adopted < observation.fetched, FALSE) AS BIGINT) AS negative
FROM observation;
