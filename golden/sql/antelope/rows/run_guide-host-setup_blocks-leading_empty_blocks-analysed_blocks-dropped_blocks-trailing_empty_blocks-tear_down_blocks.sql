SELECT
  host,
  setup_blocks AS "setup_blocks",
  leading_empty_blocks AS "leading_empty_blocks",
  analysed_blocks AS "analysed_blocks",
  dropped_blocks AS "dropped_blocks",
  trailing_empty_blocks AS "trailing_empty_blocks",
  tear_down_blocks AS "tear_down_blocks"
FROM run_guide
ORDER BY
  host;
