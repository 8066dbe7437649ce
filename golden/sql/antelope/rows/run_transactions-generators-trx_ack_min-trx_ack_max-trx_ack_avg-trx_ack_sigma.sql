SELECT
  generators,
  trx_ack_min AS "trx_ack_min",
  trx_ack_max AS "trx_ack_max",
  trx_ack_avg AS "trx_ack_avg",
  trx_ack_sigma AS "trx_ack_sigma"
FROM run_transactions
ORDER BY
  generators;
