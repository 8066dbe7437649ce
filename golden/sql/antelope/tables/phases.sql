-- `$name` stands for a constant of the run; constants.json has the values.
CREATE TEMPORARY TABLE phases AS
/* The phase of each block. Set-up and tear-down are outside of the test by block number, because a log returns to lower */
/* numbers after a fork switch. Of the test, the empty blocks before the first and after the last block with a */
/* transaction are left out (if all are empty, all but the last), and then `additional_drop` blocks at each end. */
WITH test AS (
  SELECT
    place,
    transactions,
    ROW_NUMBER() OVER (ORDER BY place) AS turn,
    COUNT(*) OVER () AS size
  FROM blocks
  WHERE
    of_test
), edges AS (
  SELECT
    COALESCE(MIN(turn) FILTER(WHERE
      transactions > 0), MAX(size)) AS first_turn,
    COALESCE(MAX(turn) FILTER(WHERE
      transactions > 0), MAX(size)) AS last_turn
  FROM test
)
SELECT
  blocks.host,
  blocks.place,
  blocks.number,
  blocks.transactions,
  CASE
    WHEN test.turn IS NULL AND $test_start >= 0 AND blocks.number < $test_start
    THEN 'set-up'
    WHEN test.turn IS NULL
    THEN 'tear-down'
    WHEN test.turn < edges.first_turn
    THEN 'leading empty'
    WHEN test.turn > edges.last_turn
    THEN 'trailing empty'
    WHEN test.turn < edges.first_turn + $additional_drop
    OR test.turn > edges.last_turn - $additional_drop
    THEN 'dropped'
    ELSE 'analysed'
  END AS phase
FROM blocks
CROSS JOIN edges
LEFT JOIN test
  ON test.place = blocks.place;
