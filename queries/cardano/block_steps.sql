-- Completeness of the steps of a block on each of its hosts: how many have no record of their start or end, and how
-- many end before they start. The steps of the forger are announcement, sending and adoption, which start with the
-- forging. The steps of an observer are notice (from the start of the slot), request (from the notice), fetch (from the
-- request), and announcement, sending and adoption (from the end of the fetch).
-- Compatibility: as in the published analysis, steps of the forge loop do not count, although they may end early, too.
SELECT
    block.block,
    block.forger AS host,
    (block.announced IS NULL)::BIGINT + (block.sending IS NULL)::BIGINT + (block.adopted IS NULL)::BIGINT AS missing,
    coalesce(block.announced < block.forged, FALSE)::BIGINT
    + coalesce(block.sending < block.forged, FALSE)::BIGINT
    + coalesce(block.adopted < block.forged, FALSE)::BIGINT AS negative
FROM block
UNION ALL
SELECT
    observation.block,
    observation.host,
    (observation.requested IS NULL)::BIGINT
    + (observation.requested IS NULL OR observation.fetched IS NULL)::BIGINT
    + (observation.fetched IS NULL OR observation.announced IS NULL)::BIGINT
    + (observation.fetched IS NULL OR observation.sending IS NULL)::BIGINT
    + (observation.fetched IS NULL OR observation.adopted IS NULL)::BIGINT AS missing,
    coalesce(observation.noticed < observation.slot_start, FALSE)::BIGINT
    + coalesce(observation.requested < observation.noticed, FALSE)::BIGINT
    + coalesce(observation.fetched < observation.requested, FALSE)::BIGINT
    + coalesce(observation.announced < observation.fetched, FALSE)::BIGINT
    + coalesce(observation.sending < observation.fetched, FALSE)::BIGINT
    + coalesce(observation.adopted < observation.fetched, FALSE)::BIGINT AS negative
FROM observation
