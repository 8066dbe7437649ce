-- The report on published saturation tables, and the claims of documents about them.
let S = ../schema/package.dhall

let B = S.block

let constant = (./source.dhall).constant

let c = (./relations.dhall).column

let p = ./published.dhall

let configuration = [ c.connections.name, c.rate.name ]

-- The rule of the QA documents: the highest load of which nearly all is in blocks, with the fewest connections. The
-- tolerance fits the choice of v1: 31200 of 35600 transactions, 87.6 %.
let chosen =
      B.Choice::{
      , name = "chosen"
      , title = "Chosen configuration"
      , grain = p.grain.name
      , keys = configuration
      , pins = [ B.pin c.number constant.chosen ]
      , most = Some p.expected.id
      , done = Some p.txs.id
      , due = Some p.expected.id
      , tolerance = 15
      , least = [ c.connections.name ]
      , first = c.number.name
      , label = configuration
      , absent = "no experiment with at least 85 % of its load in blocks"
      }

let saturation =
      B.withChoice
        chosen
        ( B.withDiagonals
            ( B.pivot
                { title = "Transactions in blocks, by rate (rows) and connections (columns)"
                , grain = p.grain
                , down = c.rate
                , across = c.connections
                , metric = p.txs
                , first = c.number
                , due = p.expected
                , tolerance = 10
                }
            )
        )

let document = "The QA document of v0.38"

-- Of the table of the baseline, only the two cells that distinguish the versions are claimed.
let claims =
      [ B.claim
          { document
          , statement = "the saturation table of v0.38"
          , run = "v0.38"
          , pivot = saturation
          , cells =
            [ B.cell 200 1 "17800"
            , B.cell 200 2 "33259"
            , B.cell 200 4 "33259"
            , B.cell 400 1 "35600"
            , B.cell 400 2 "41565"
            , B.cell 400 4 "41384"
            , B.cell 800 1 "36831"
            , B.cell 800 2 "38686"
            , B.cell 800 4 "40816"
            , B.cell 1600 1 "40600"
            , B.cell 1600 2 "45034"
            , B.cell 1600 4 "39830"
            ]
          }
      , B.claim
          { document
          , statement = "the saturation table of the baseline, v0.37"
          , run = "v0.37"
          , pivot = saturation
          , cells = [ B.cell 100 4 "35600", B.cell 200 4 "38660" ]
          }
      ]

let published =
      S.Report::{
      , name = "published"
      , title = "Published saturation tables"
      , intro = "The load tool's own summaries, as published with the QA documents, compared with the claims of the documents."
      , choices = [ chosen ]
      , parts =
        [ B.Part::{ title = "Saturation", blocks = B.prose "prose/published.md" # B.pivots [ saturation ] }
        , B.Part::{
          , title = "Latencies"
          , blocks =
              B.listings
                [ B.listing
                    "Latencies of the experiments"
                    p.grain
                    [ c.rate, c.connections ]
                    [ p.txs, p.least, p.average, p.greatest, p.deviation, p.negative ]
                ]
          }
        ]
      , style = "prefixed"
      , label = constant.ident.name
      , doc = "Published saturation tables, compared with the claims of documents"
      , claims
      }

in  { published }
