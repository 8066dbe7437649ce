-- How complete the steps of a block are: one sample a block.
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

in  { lacking =
        counted
          { id = "blockMissingSteps"
          , name = "Missing steps"
          , measure = X.column steps.lacking
          , doc =
              "Steps of the block of which the beginning or the end has no record, on all hosts: of the forger, announcing, sending and adoption; of an observer, request, fetch, announcing, sending and adoption. A host that serves no peer announces and sends nothing"
          }
    , early =
        counted
          { id = "blockNegativeSteps"
          , name = "Negative steps"
          , measure = X.column steps.early
          , doc =
              "Steps of the block that end before they begin, on all hosts: the same steps, and the notice of an observer, which begins with the slot"
          }
    }
