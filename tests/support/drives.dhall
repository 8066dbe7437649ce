-- Drives, and what is written to them.
let S = ../schema/package.dhall

let B = S.block

let E = S.event

let G = S.grain

let M = S.metric

let R = S.report

let U = S.unit

let X = S.x

let formulas = ../antelope/formulas.dhall

let constant =
      { ident =
          S.Constant::{ name = "ident", files = [ "meta.json" ], path = [ "ident" ], type = "text" }
      , paid =
          S.Constant::{
          , name = "paid"
          , files = [ "meta.json" ]
          , path = [ "paid_terabytes" ]
          , type = "real"
          , unit = U.terabyte
          , default = Some "600.5"
          }
      }

let table =
      S.Source::{
      , name = "table"
      , kind = "csv"
      , hosts = ""
      , logs = [ "rates.csv" ]
      , time = [ "at" ]
      , body = [] : List Text
      , lookups = [] : List S.source.Lookup
      , constants = [ constant.ident, constant.paid ]
      }

let f = { drive = E.text "drive", rate = E.inUnit U.bytePerSecond (E.integer "rate") }

let read =
        { name = "read"
        , source = table.name
        , forms = [ { names = [] : List E.Name, unless = [] : List E.Unless, fields = [ f.drive, f.rate ] } ]
        , doc = "A rate"
        }
      : S.Event

let c =
      { drive = G.column "text" "drive" U.none "Drive"
      , place = G.column "integer" "place" U.none "Line"
      , rate = G.column "integer" "rate" U.bytePerSecond "Bytes per second"
      }

let rates =
      S.Relation::{
      , name = "rates"
      , sql = ../../queries/drives/rates.sql as Text
      , uses = [ read.name ]
      , columns = [ c.drive, c.place, c.rate ]
      , key = [ "place" ]
      }

let row = S.Grain::{ name = "row", relation = rates.name, key = rates.key, columns = rates.columns }

let other = row // { name = "other" }

let rate =
      S.Metric::{
      , id = "disk_write_rate"
      , name = "Disk write rate"
      , doc = "Rate at which a drive is written to"
      , grain = row.name
      , measure = X.column c.rate
      , unit = U.perSecond U.megabyte
      , better = "lower"
      }

let ofDrives = rate // { id = "rate_of_drives", per = "drive" }

let elsewhere = rate // { id = "rate_elsewhere", grain = other.name, unit = U.perDay U.gibibyte }

let writes = formulas.diskWritesPerYear rate

let paid =
          M.formula
            { id = "paid_lasts"
            , name = "Paid terabytes last"
            , doc = "How long the terabytes of the contract last"
            , formula = X.over (S.source.constant constant.paid) (M.value rate)
            , unit = U.year
            }
      //  { examples =
              [ M.example
                  [ M.inputConstant constant.paid 252.288 U.terabyte, M.input rate 4.0 (U.perSecond U.megabyte) ]
                  "2.000"
                  U.year
                  ""
              ]
          }

-- A formula over a formula and metrics of two grains, one of them with a distribution a drive.
let mixed =
      M.formula
        { id = "mixed"
        , name = "Mixed"
        , doc = "Everything at once"
        , formula =
            X.greatest
              ( X.minus
                  (X.plus (M.value writes.binary) (X.times (M.value elsewhere) (X.quantity 2.0 U.hour)))
                  (X.times (X.over (M.value ofDrives) (X.real 8.0)) (X.asUnit U.day (X.natural 3)))
              )
              (X.quantity 1.0 U.kibibyte)
        , unit = U.gibibyte
        }

let report =
      S.Report::{
      , name = "writes"
      , title = "Writes of {base}"
      , intro = ""
      , manifest = [] : List R.ManifestRow
      , sections = [ R.section "Disk" [ writes.decimal, writes.binary, rate, paid ] ]
      , charts = [ R.cdf rate ]
      , dictionary = [ R.group "Disk" [ rate, writes.decimal, writes.binary, paid ] ]
      , also = R.metricIds [ ofDrives, mixed ]
      , style = "three-digits"
      , summary = "lowest"
      , label = constant.ident.name
      }

let article =
      S.Report::{
      , name = "endurance"
      , title = "Endurance"
      , intro = ""
      , parts =
        [ B.Part::{
          , title = "Disk"
          , blocks =
                B.prose "prose/disk.md"
              # B.listings [ B.listing "Rows" row [ c.drive ] [ rate, writes.decimal ] ]
              # B.classTables
                  [ formulas.usedUp rate
                  , B.against
                      { title = "By the year"
                      , heading = "Bears"
                      , classes = formulas.drives
                      , value = X.times (X.over B.amount (M.value writes.decimal)) formulas.year
                      , unit = U.year
                      }
                  , B.across c.drive (formulas.usedUp rate)
                  ]
          }
        ]
      , style = "three-digits"
      , label = constant.ident.name
      }

in  S.Package::{
    , system = "drives"
    , sources = [ table ]
    , events = [ read ]
    , relations = [ rates ]
    , grains = [ row, other ]
    , metrics = [ rate, ofDrives, elsewhere, writes.decimal, writes.binary, paid, mixed ]
    , summaries =
      [ S.Summary::{ name = "all", doc = "The mean of all" }
      , S.Summary::{ name = "lowest", lowest = 2, doc = "The lowest two" }
      ]
    , reports = [ report, article ]
    }
