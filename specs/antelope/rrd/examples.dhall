-- Examples: records of a virtual machine, and the expected value of each metric.
let S = ../../schema/package.dhall

let Q = S.example

let m = (./package.dhall).metric

let sizes = (./package.dhall).sizes

let of = Q.samples

in  [ S.Example::{
      , name = "a step without data and one with missing values"
      , files =
        [ Q.file
            "rrddata.json"
            ''
            [
            {"time": 1767225600},
            {"time": 1767225660, "cpu": 0.25, "maxcpu": 8, "mem": 2147483648, "maxmem": 4294967296, "diskread": 2048,
             "diskwrite": 5120, "netin": 1536, "netout": 7168},
            {"time": 1767225720, "cpu": 0.5, "maxcpu": 8, "mem": 3221225472, "maxmem": 4294967296, "diskread": null,
             "diskwrite": 9216, "netin": 4096, "netout": 512}
            ]
            ''
        , Q.file
            "rrddata_later.json"
            ''
            {"data": [
            {"time": 1767225720, "cpu": 0.5, "maxcpu": 8, "mem": 3221225472, "maxmem": 4294967296, "diskread": null,
             "diskwrite": 9216, "netin": 4096, "netout": 512},
            {"time": 1767225780, "cpu": 1, "maxcpu": 8}
            ]}
            ''
        ]
      , expect =
        [ of m.cpu [ "25", "50", "100" ]
        , of m.memory [ "2048", "3072" ]
        , of m.memoryTotal [ "4096", "4096" ]
        , of m.memoryShare [ "50", "75" ]
        , of m.read [ "2" ]
        , of m.write [ "5", "9" ]
        , of m.netIn [ "1.5", "4" ]
        , of m.netOut [ "0.5", "7" ]
        , of sizes.cores [ "8" ]
        , of sizes.memory [ "4096" ]
        , of sizes.steps [ "2" ]
        ]
      , doc = "A step that is in both files counts once"
      }
    ]
