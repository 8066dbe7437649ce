-- Disk writes per year from a write rate, and the lifetime of drives by rated endurance. Conversions are exact. A year
-- has 365 days.
let S = ../schema/package.dhall

let B = S.block

let M = S.metric

let U = S.unit

let X = S.x

let year = X.quantity 365.0 U.day

let aYearOf = \(rate : S.Metric.Type) -> X.times (M.value rate) year

-- Published figures follow two conventions: 120 a year has binary prefixes (1024), 0.378 decimal prefixes (1000).
let diskWritesPerYear =
      \(rate : S.Metric.Type) ->
        let example = \(x : Double) -> \(unit : S.Unit) -> M.example [ M.input rate x (U.perSecond unit) ]

        in  { decimal =
                    M.formula
                      { id = "disk_writes_per_year"
                      , name = "Disk writes per year"
                      , doc = "Bytes written in 365 days at the mean rate, in units of TBW (1 TB = 10^12 bytes)"
                      , formula = aYearOf rate
                      , unit = U.terabyte
                      }
                //  { better = "lower"
                    , examples =
                      [ example 4.0 U.megabyte "126.1" U.terabyte "decimal prefixes (1000)"
                      , example 12.0 U.kilobyte "0.378" U.terabyte "decimal prefixes (1000)"
                      ]
                    }
            , binary =
                    M.formula
                      { id = "disk_writes_per_year_binary"
                      , name = "Disk writes per year"
                      , doc = "Bytes written in 365 days at the mean rate, with binary prefixes (1 TiB = 2^40 bytes)"
                      , formula = aYearOf rate
                      , unit = U.tebibyte
                      }
                //  { better = "lower"
                    , examples =
                      [ example 4.0 U.mebibyte "120.3" U.tebibyte "binary prefixes (1024)"
                      , example 12.0 U.kibibyte "0.352" U.tebibyte "binary prefixes (1024)"
                      ]
                    }
            }

-- Rated endurance of a drive: terabytes written (TBW), as its manufacturer states.
let rated = \(name : Text) -> \(terabytes : Double) -> B.class name terabytes U.terabyte

let drives =
      [ rated "150 TBW" 150.0
      , rated "300 TBW" 300.0
      , rated "600 TBW" 600.0
      , rated "1200 TBW" 1200.0
      , rated "2000 TBW" 2000.0
      ]

let usedUp =
      \(rate : S.Metric.Type) ->
        B.usedUp
          { title = "Drive lifetime in years"
          , heading = "Rated endurance"
          , classes = drives
          , metric = rate
          , unit = U.year
          }

in  { year, diskWritesPerYear, drives, usedUp }
