SELECT
  generators,
  trx_net_min AS "trx_net_min",
  trx_net_max AS "trx_net_max",
  trx_net_avg AS "trx_net_avg",
  trx_net_sigma AS "trx_net_sigma"
FROM run_transactions
ORDER BY
  generators;
