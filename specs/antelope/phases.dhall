-- Before and after the upgrade.
let S = ../schema/package.dhall

let P = S.phase

let constant = (./samples.dhall).constant

let upgrade = P.told constant.upgrade

-- A rate looks back over its window, so that much is left out on both sides of the upgrade.
let apart = { margin = constant.window.name }

in  { upgrade, before = P.before "before" upgrade // apart, after = P.after "after" upgrade // apart }
