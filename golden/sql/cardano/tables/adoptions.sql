CREATE TEMPORARY TABLE adoptions AS
/* All adoptions of blocks of the main chain, by forgers and observers, with complete or incomplete observations, */
/* measured from the start of the slot that the forger names. */
/* Compatibility: a block without an adoption counts as adopted immediately. */
WITH adopted AS (
  SELECT
    block.block,
    block.forger AS host,
    block.slot_start,
    block.adopted
  FROM block
  WHERE
    NOT block.adopted IS NULL
  UNION ALL
  SELECT
    observation.block,
    observation.host,
    block.slot_start,
    observation.adopted
  FROM observation
  INNER JOIN block
    ON block.block = observation.block
  WHERE
    NOT observation.adopted IS NULL
)
SELECT
  block,
  host,
  slot_start,
  adopted
FROM adopted
UNION ALL
SELECT
  block.block,
  block.forger AS host,
  block.slot_start,
  block.slot_start AS adopted
FROM block
ANTI JOIN adopted
  ON adopted.block = block.block;
