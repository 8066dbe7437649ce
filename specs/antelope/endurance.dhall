-- How long the drives of a host last: what is written to them, from samples of node_exporter, against classes of drives.
let S = ../schema/package.dhall

let A = S.article

let G = S.grain

let U = S.unit

let X = S.x

let e = ./samples.dhall

let job = e.field.job

let instance = e.field.instance

let device = e.field.device

let written = e.written

let column =
      { window = G.column "text" "name" U.none "Name of the window"
      , from = G.column "instant" "from_ns" U.nanosecond "First step"
      , to = G.column "instant" "to_ns" U.nanosecond "No step later"
      , instance = G.column "text" "instance" U.none "Host, as the server calls it"
      , device = G.column "text" "device" U.none "Drive"
      , rate = G.column "real" "write_rate" U.bytePerSecond "Mean of the rates at which it is written to"
      }

let windows =
      S.Relation::{
      , name = "observed"
      , sql = ../../queries/antelope/observed.sql as Text
      , uses = [ written.name ]
      , columns = [ column.window, column.from, column.to ]
      , key = [ column.window.name ]
      , doc = "All the time of which there are samples, but for the first 20 s"
      }

let rates =
      S.Series::{
      , name = "disk_write_rates"
      , samples = G.samples written
      , by = G.fieldNames [ job, instance, device ]
      , windows = windows.name
      , reading = "rate"
      , windowNs = 20000000000
      , covered = True
      , unit = U.bytePerSecond
      , doc = "Bytes a second that are written to each drive, over the last 20 s"
      }

let drives =
      S.Relation::{
      , name = "drive_rates"
      , sql = ../../queries/antelope/drive_rates.sql as Text
      , uses = [ rates.name ]
      , columns = [ column.instance, column.device, column.rate ]
      , key = [ column.instance.name, column.device.name ]
      , doc = "Drives, each with the rate at which it is written to"
      }

let drive =
      S.Grain::{
      , name = "drive"
      , relation = drives.name
      , key = drives.key
      , columns = drives.columns
      , doc = "A drive of a host"
      }

let formulas = ./formulas.dhall

let diskWriteRate =
      S.Metric::{
      , id = "drive_write_rate"
      , name = "Drive write rate"
      , doc = "Mean of the rates at which a drive is written to"
      , grain = drive.name
      , measure = X.column column.rate
      , accepted = False
      , unit = U.perSecond U.megabyte
      , better = "lower"
      , width = 3
      }

let ofAll = formulas.diskWritesPerYear diskWriteRate

let writes =
      { decimal = ofAll.decimal // { id = "drive_writes_per_year" }
      , binary = ofAll.binary // { id = "drive_writes_per_year_binary" }
      }

let article =
      S.Article::{
      , name = "endurance"
      , title = "Endurance of the drives of {base}"
      , intro = "What is written to each drive, in how long a drive of each class is used up by it, and how both are worked out."
      , parts =
        [ A.Part::{
          , title = "Disk"
          , prose = "prose/endurance.md"
          , listings = [ A.listing "Writes" drive [ column.instance, column.device ] [ diskWriteRate, writes.decimal, writes.binary ] ]
          , timelines = [ A.lines "Bytes written a second" rates "device" ]
          , classTables = [ A.across column.device (formulas.usedUp diskWriteRate) ]
          }
        ]
      , style = "three-digits"
      , label = e.constant.ident.name
      , doc = "How long drives last that are written to as those of the run are"
      }

in  { windows
    , rates
    , drives
    , drive
    , metric = { diskWriteRate, writes }
    , metrics = [ diskWriteRate, writes.decimal, writes.binary ]
    , article
    }
