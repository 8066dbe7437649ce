-- Every adoption of a block of the main chain, by its forger and by its observers, complete observations or not.
SELECT block.block, block.forger AS host, block.slot_start, block.adopted
FROM block
WHERE block.adopted IS NOT NULL
UNION ALL
SELECT observation.block, observation.host, observation.slot_start, observation.adopted
FROM observation
WHERE observation.adopted IS NOT NULL
