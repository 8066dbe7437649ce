-- Series of hosts over the time of a run, in intervals of ten seconds.
let S = ../schema/package.dhall

let G = S.grain

let U = S.unit

let D = ./units.dhall

let e = ./events.dhall

let runTime = G.wholeRun "run_time" [ e.txsProcessed, e.mempoolSize, e.headerSeen ]

let interval = { windows = runTime.name, everyNs = 10000000000 }

let accepted =
      S.Series::(     interval
                  /\  { name = "transaction_rate"
                      , samples = G.samples e.txsProcessed
                      , reading = "sum"
                      , value = G.field e.field.accepted
                      , unit = U.perSecond D.transaction
                      , doc = "Transactions of peers accepted by the mempools of all hosts"
                      }
                )

let mempool =
      S.Series::(     interval
                  /\  { name = "mempool_by_host"
                      , samples = G.samples e.mempoolSize
                      , by = [ "host" ]
                      , reading = "mean"
                      , value = G.field e.field.mempoolTxs
                      , unit = D.transaction
                      , doc = "Transactions in the mempool of a host, from its logged changes"
                      }
                )

let headers =
      S.Series::(     interval
                  /\  { name = "header_rate"
                      , samples = G.samples e.headerSeen
                      , reading = "count"
                      , unit = U.perSecond U.event
                      , doc = "Headers that hosts downloaded, counted once per peer that offers them"
                      }
                )

in  { runTime, accepted, mempool, headers }
