SELECT
  host,
  first_block AS "first_block",
  last_block AS "last_block",
  total_blocks AS "total_blocks",
  test_start_block AS "test_start_block",
  test_end_block AS "test_end_block"
FROM run_guide
ORDER BY
  host;
