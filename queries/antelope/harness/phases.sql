-- What each block counts as. Set-up and tear-down are outside of the test, by their numbers: after a switch of forks the
-- log goes back to lower ones. Of the test's blocks the empty ones ahead of the first with a transaction, and after the
-- last, are left out (where all are empty, the last one is kept), and then as many more at each end as the run says.
WITH test AS (
    SELECT
        place,
        transactions,
        row_number() OVER (ORDER BY place) AS turn,
        count(*) OVER () AS size
    FROM blocks
    WHERE of_test
),

edges AS (
    SELECT
        coalesce(min(turn) FILTER (WHERE transactions > 0), max(size)) AS first_turn,
        coalesce(max(turn) FILTER (WHERE transactions > 0), max(size)) AS last_turn
    FROM test
)

SELECT
    blocks.host,
    blocks.place,
    blocks.number,
    blocks.transactions,
    CASE
        WHEN test.turn IS NULL AND $test_start >= 0 AND blocks.number < $test_start THEN 'set-up'
        WHEN test.turn IS NULL THEN 'tear-down'
        WHEN test.turn < edges.first_turn THEN 'leading empty'
        WHEN test.turn > edges.last_turn THEN 'trailing empty'
        WHEN test.turn < edges.first_turn + $additional_drop OR test.turn > edges.last_turn - $additional_drop THEN 'dropped'
        ELSE 'analysed'
    END AS phase
FROM blocks
CROSS JOIN edges
LEFT JOIN test ON test.place = blocks.place
