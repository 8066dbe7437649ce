-- Drive endurance of a host: write rates from samples of node_exporter, and the lifetime of drives by rated endurance.
let S = ../schema/package.dhall

let B = S.block

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
      , to = G.column "instant" "to_ns" U.nanosecond "Last step"
      , instance = G.column "text" "instance" U.none "Host (label instance)"
      , device = G.column "text" "device" U.none "Drive"
      , rate = G.column "real" "write_rate" U.bytePerSecond "Mean write rate"
      }

let windows =
      S.Relation::{
      , name = "observed"
      , sql = ../../queries/antelope/observed.sql as Text
      , uses = [ written.name ]
      , columns = [ column.window, column.from, column.to ]
      , key = [ column.window.name ]
      , doc = "Time range of the samples without the first 20 s"
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
      , doc = "Write rate per drive (20 s window)"
      }

let drives =
      S.Relation::{
      , name = "drive_rates"
      , sql = ../../queries/antelope/drive_rates.sql as Text
      , uses = [ rates.name ]
      , columns = [ column.instance, column.device, column.rate ]
      , key = [ column.instance.name, column.device.name ]
      , doc = "Drives with their mean write rates"
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
      , doc = "Mean write rate of a drive"
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

let report =
      S.Report::{
      , name = "endurance"
      , title = "Drive endurance: {base}"
      , intro = "Write rate of each drive, lifetime of drives by rated endurance, and how both are computed."
      , parts =
        [ B.part
            "Disk"
            (   B.prose "prose/endurance.md"
              # B.timelines [ B.lines "Write rate per drive" rates "device" ]
              # B.listings [ B.listing "Writes" drive [ column.instance, column.device ] [ diskWriteRate, writes.decimal, writes.binary ] ]
              # B.classTables [ B.across column.device (formulas.usedUp diskWriteRate) ]
            )
        ]
      , style = "three-digits"
      , label = e.constant.ident.name
      , doc = "Lifetime of drives at the write rates of the run"
      }

in  { windows
    , rates
    , drives
    , drive
    , metric = { diskWriteRate, writes }
    , metrics = [ diskWriteRate, writes.decimal, writes.binary ]
    , report
    }
