-- What the upgrade report says of the tables before and after: the averages, and by how much they differ.
let S = ../schema/package.dhall

let O = S.observation

in  \ ( compared
      : { cpu : S.Metric.Type
        , memory : S.Metric.Type
        , writes : S.Metric.Type
        , writesOfAYear : S.Metric.Type
        , vmCpu : S.Metric.Type
        , vmMemory : S.Metric.Type
        , vmWrites : S.Metric.Type
        , vmWritesOfAYear : S.Metric.Type
        , node : List S.Metric.Type
        }
      ) ->
      let changed =
            \(name : Text) ->
            \(m : S.Metric.Type) ->
              O.percent "2" [ m ] // { name, text = "{name} {goes} from {from} to {to}, by {percent}" }

      let quiet = "No significant change: {name}."

      in  S.Observations::{
          , groups =
            [ O.group
                "Host"
                quiet
                [ changed "CPU usage" compared.cpu
                , changed "Memory in use" compared.memory
                , changed "The rate of disk writes" compared.writes
                , changed "The amount written to disk in a year" compared.writesOfAYear
                ]
            , O.group
                "Virtual machine"
                quiet
                [ changed "CPU use" compared.vmCpu
                , changed "Memory in use" compared.vmMemory
                , changed "The rate of disk writes" compared.vmWrites
                , changed "The amount written to disk in a year" compared.vmWritesOfAYear
                ]
            , O.group "Peers and transactions" quiet [ O.percent "10" compared.node ]
            ]
          }
