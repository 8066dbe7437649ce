-- The test must leave a block to analyse.
SELECT host, total_blocks
FROM guide
WHERE analysed_blocks = 0
