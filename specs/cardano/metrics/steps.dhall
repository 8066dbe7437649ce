-- Completeness of the steps of a block: one sample per block.
let S = ../../schema/package.dhall

let X = S.x

let M = S.metric

let steps = ../grains/block_steps.dhall

let counted =
      \(m : { id : Text, name : Text, measure : S.Expression, doc : Text }) ->
        S.Metric::(     m
                    /\  { grain = steps.name
                        , reduction = M.sum [ steps.block ]
                        , unit = S.unit.count
                        , better = "lower"
                        }
                  )

in  { incomplete =
        counted
          { id = "blockMissingSteps"
          , name = "Missing steps"
          , measure = X.column steps.incomplete
          , doc =
              "Steps of the block without a record of their start or end, over all hosts. Steps of the forger: announcement, sending, adoption; of an observer: request, fetch, announcement, sending, adoption. A host without downstream peers announces and sends nothing"
          }
    , early =
        counted
          { id = "blockNegativeSteps"
          , name = "Negative steps"
          , measure = X.column steps.early
          , doc =
              "Steps of the block that end before they start, over all hosts: the same steps, and the notice of an observer, which starts with the slot"
          }
    }
