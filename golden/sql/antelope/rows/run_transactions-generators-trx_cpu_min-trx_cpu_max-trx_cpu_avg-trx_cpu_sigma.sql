SELECT
  generators,
  trx_cpu_min AS "trx_cpu_min",
  trx_cpu_max AS "trx_cpu_max",
  trx_cpu_avg AS "trx_cpu_avg",
  trx_cpu_sigma AS "trx_cpu_sigma"
FROM run_transactions
ORDER BY
  generators;
