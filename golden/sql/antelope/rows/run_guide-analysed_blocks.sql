SELECT
  analysed_blocks AS "analysed_blocks"
FROM run_guide
ORDER BY
  host;
