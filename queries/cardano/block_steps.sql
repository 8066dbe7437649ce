-- How complete the steps of a block are on each of its hosts: how many lack their beginning or end, and how many end
-- before they begin. The steps of the forger are announcing, sending and adopting, each from the forging on. The steps
-- of an observer are noticing, from the start of the slot on, requesting, from the notice on, fetching, from the request
-- on, and announcing, sending and adopting, each from the end of fetching on.
-- Compatibility: the published analysis counts no step of the forge loop, though they may end before they begin, too.
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
