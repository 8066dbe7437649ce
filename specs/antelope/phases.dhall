-- Phases: before and after the upgrade, and from the second start on if the run records it.
let S = ../schema/package.dhall

let P = S.phase

let constant = (./samples.dhall).constant

let upgrade = P.constant constant.upgrade

let secondStart = P.optional (P.constant constant.secondStart)

-- A rate covers the window before its time, so one window is left out on each side of the upgrade.
let withMargin = { margin = constant.window.name }

in  { upgrade
    , secondStart
    , before = P.before "before" upgrade // withMargin
    , after = P.between "after" upgrade secondStart // withMargin
    , again = P.after "second start" secondStart // withMargin
    }
