-- Series: what hosts do over the time of a run, in intervals of ten seconds.
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
                      , doc = "Transactions of peers that the mempools of all hosts accepted"
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
                      , doc = "Transactions in the mempool of a host, over the changes that it logs"
                      }
                )

let headers =
      S.Series::(     interval
                  /\  { name = "header_rate"
                      , samples = G.samples e.headerSeen
                      , reading = "count"
                      , unit = U.perSecond U.event
                      , doc = "Headers that hosts see, again for each peer that offers one"
                      }
                )

in  { runTime, accepted, mempool, headers }
