CREATE TEMPORARY TABLE block_steps AS
/* Completeness of the steps of a block on each of its hosts: how many have no record of their start or end, and how */
/* many end before they start. The steps of the forger are announcement, sending and adoption, which start with the */
/* forging. The steps of an observer are notice (from the start of the slot), request (from the notice), fetch (from the */
/* request), and announcement, sending and adoption (from the end of the fetch). */
/* Compatibility: as in the published analysis, steps of the forge loop do not count, although they may end early, too. */
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
