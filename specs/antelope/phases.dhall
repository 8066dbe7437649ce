-- Before and after the upgrade, and from the second start on where a run says when that was.
let S = ../schema/package.dhall

let P = S.phase

let constant = (./samples.dhall).constant

let upgrade = P.told constant.upgrade

let secondStart = P.optional (P.told constant.secondStart)

-- A rate looks back over its window, so that much is left out on both sides of the upgrade.
let apart = { margin = constant.window.name }

in  { upgrade
    , secondStart
    , before = P.before "before" upgrade // apart
    , after = P.between "after" upgrade secondStart // apart
    , again = P.after "second start" secondStart // apart
    }
