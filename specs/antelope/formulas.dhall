-- What a rate of writes means over a year, and for drives that bear a number of bytes written. Every conversion is exact;
-- a year has 365 days.
let S = ../schema/package.dhall

let A = S.article

let M = S.metric

let U = S.unit

let X = S.x

let year = X.quantity 365.0 U.day

let aYearOf = \(rate : S.Metric.Type) -> X.times (M.value rate) year

-- Published were 120 and 0.378 a year, which follow two conventions: prefixes of 1024 throughout, and of 1000.
let diskWritesPerYear =
      \(rate : S.Metric.Type) ->
        let example = \(x : Double) -> \(unit : S.Unit) -> M.example [ M.given rate x (U.perSecond unit) ]

        in  { decimal =
                    M.formula
                      { id = "disk_writes_per_year"
                      , name = "Disk writes in 365 days"
                      , doc = "Bytes written in 365 days at the mean rate; 1 TB is 10^12 bytes, as drives are rated (TBW)"
                      , formula = aYearOf rate
                      , unit = U.terabyte
                      }
                //  { better = "lower"
                    , examples =
                      [ example 4.0 U.megabyte "126.1" U.terabyte "prefixes of 1000 throughout"
                      , example 12.0 U.kilobyte "0.378" U.terabyte "prefixes of 1000 throughout: the published 0.378"
                      ]
                    }
            , binary =
                    M.formula
                      { id = "disk_writes_per_year_binary"
                      , name = "Disk writes in 365 days"
                      , doc = "The same with prefixes of 1024; 1 TiB is 2^40 bytes"
                      , formula = aYearOf rate
                      , unit = U.tebibyte
                      }
                //  { better = "lower"
                    , examples =
                      [ example 4.0 U.mebibyte "120.3" U.tebibyte "prefixes of 1024 throughout: the published 120"
                      , example 12.0 U.kibibyte "0.352" U.tebibyte "prefixes of 1024 throughout"
                      ]
                    }
            }

-- Terabytes that a drive bears to be written (TBW), as its maker says.
let bears = \(name : Text) -> \(terabytes : Double) -> A.class name terabytes U.terabyte

let drives =
      [ bears "150 TBW" 150.0
      , bears "300 TBW" 300.0
      , bears "600 TBW" 600.0
      , bears "1200 TBW" 1200.0
      , bears "2000 TBW" 2000.0
      ]

let usedUp =
      \(rate : S.Metric.Type) ->
        A.usedUp
          { title = "Years until a drive is used up"
          , heading = "Drive bears"
          , classes = drives
          , metric = rate
          , unit = U.year
          }

in  { year, diskWritesPerYear, drives, usedUp }
