SELECT
  job,
  average_load AS "load_avg",
  highest_load AS "load_highest"
FROM sampled_machine
ORDER BY
  job,
  instance;
