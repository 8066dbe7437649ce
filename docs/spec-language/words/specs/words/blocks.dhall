-- Words of `B`, and those of `G` about series: each block names the lines of a report that it prints.
let S = ../schema/package.dhall

let X = S.x

let E = S.event

let G = S.grain

let M = S.metric

let B = S.block

let O = S.observation

let U = S.unit

let source = ./source.dhall

let constant = source.constant

let number = E.integer "number"

let clients = E.integer "clients"

let rate = E.integer "rate"

let done = E.inUnit U.count (E.integer "done")

let due = E.inUnit U.count (E.integer "due")

let fields = [ number, clients, rate, done, due ]

let tried = E.event { name = "tried", source = source.trials.name, names = [] : List Text, fields, doc = "A trial" }

let c =
      { number = G.columnOf number
      , clients = G.columnOf clients
      , rate = G.columnOf rate
      , done = G.columnOf done
      , due = G.columnOf due
      , began = G.column "instant" "began" U.nanosecond "Start of the trial"
      , ended = G.column "instant" "ended" U.nanosecond "End of the trial"
      }

let trials =
      S.Relation::{
      , name = "all_trials"
      , sql = "SELECT number, clients, rate, done, due, t_ns AS began, t_ns + 10000000000 AS ended FROM ${tried.name}"
      , uses = [ tried.name ]
      , columns = [ c.number, c.clients, c.rate, c.done, c.due, c.began, c.ended ]
      , key = [ "number" ]
      }

let grain =
      S.Grain::{ name = "trial", relation = trials.name, key = trials.key, columns = trials.columns, at = "began", doc = "A trial" }

let metric =
      \(id : Text) ->
      \(name : Text) ->
      \(column : S.Column) ->
      \(better : Text) ->
        S.Metric::{ id, name, grain = grain.name, measure = X.column column, unit = column.unit, better, doc = name }

let finished = metric "finished" "Finished" c.done "higher"

let expected = metric "expected" "Expected" c.due "neither"

-- O.level => tables: - Finished is
let levels = O.level [ finished ]

-- O.trend => tables: - Finished rises
let trends = O.trend "the number of trials" [ finished ]

-- O.mostlyBelow => tables: - Finished is below
let below = O.mostlyBelow "2500" [ finished ]

-- O.mostlyAbove => tables: - Finished is above
let above = O.mostlyAbove "900" [ finished ]

-- O.alike => tables: - Expected: no change
let alike = O.alike "15" [ expected ]

let observations =
      Some S.Observations::{ groups = [ O.group "Trials" "" [ levels, trends, below, above, alike ] ] }

-- O.trendOfRuns => releases: - Finished rise
let trendOfRuns = O.trendOfRuns "the releases" [ finished ]

-- O.slower => releases: - Finished get slower
let slower = O.slower (O.trendOfRuns "the releases" [ finished ])

-- O.plurals => releases: - Finished rise
let plurals = O.plurals [ finished ]

-- B.listing => tables: | 2 | 2
let listing = B.listing "Trials" grain [ c.number, c.clients ] [ finished, expected ]

-- B.pin => tables: Without the pinned trial
let pinned =
      B.Choice::{
      , name = "pinned"
      , title = "Pinned trial"
      , grain = grain.name
      , pins = [ B.pin c.number constant.parts ]
      , first = c.number.name
      , label = [ c.number.name ]
      , time = Some { begin = c.began.name, end = c.ended.name }
      , absent = "no pinned trial"
      }

-- The trial with the greatest result.
let best =
      B.Choice::{
      , name = "best"
      , title = "Best trial"
      , grain = grain.name
      , keys = [ c.rate.name, c.clients.name ]
      , most = Some finished.id
      , first = c.number.name
      , label = [ c.number.name ]
      , time = Some { begin = c.began.name, end = c.ended.name }
      , absent = "no trial"
      }

-- B.pivot => tables: | 200 | 1990
let pivot =
      B.pivot
        { title = "Finished, by rate (rows) and clients (columns)"
        , grain
        , down = c.rate
        , across = c.clients
        , metric = finished
        , first = c.number
        , due = expected
        , tolerance = 10
        }

-- B.withDiagonals, B.withChoice => tables: | **400
let diagonals = B.withDiagonals (B.withChoice best pivot)

-- B.pivotWithout => tables: | 200 | — | 2750
let without = B.pivotWithout [ pinned ] (pivot // { title = "Without the pinned trial" })

-- B.verdict => tables: | All trials
let verdict =
      B.verdict
        { scenario = "All trials"
        , title = "All trials"
        , grain
        , keys = [ c.rate, c.clients ]
        , first = c.number
        , metrics = [ finished ]
        , tolerance = 5
        }

-- B.verdictOf => tables: | Best
let verdictOf = B.verdictOf best (verdict // { scenario = "Best", title = "Best" })

-- B.verdictWithout => tables: | All but the pinned
let verdictWithout = B.verdictWithout [ pinned ] (verdict // { scenario = "All but the pinned", title = "All but the pinned" })

let section = S.report.section "Averages" [ finished, expected ]

-- B.conclusion, B.rises, B.falls, B.stays, B.notWorse => tables: | Expected | 2250 | 2475 | +10
let conclusion =
      B.conclusion
        "What was expected"
        [ B.rises expected 5, B.falls expected 5, B.stays expected 20, B.notWorse finished 5 ]

-- B.class, B.usedUp => tables: | small
let usedUp =
      B.usedUp
        { title = "Trials until all is done"
        , heading = "Amount"
        , classes = [ B.class "small" 10000.0 U.count, B.class "large" 1000000.0 U.count ]
        , metric = finished
        , unit = U.none
        }

-- B.against, B.amount => tables: | hundred | 1768
let against =
      B.against
        { title = "Finished beyond an amount"
        , heading = "Beyond"
        , classes = [ B.class "hundred" 100.0 U.count, B.class "thousand" 1000.0 U.count ]
        , value = X.minus (M.value finished) B.amount
        , unit = U.count
        }

-- B.facts => tables: | Parts
let facts = B.facts [ constant.parts ]

-- B.across => tables: | hundred | 1000
let acrossTrials = B.across c.number (against // { title = "Finished beyond an amount, by trial" })

-- B.claim, B.cell => tables: | 200 |
let claim =
      B.claim
        { document = "An earlier document"
        , statement = "the table of trials"
        , run = "before"
        , pivot
        , cells = [ B.cell 200 1 "1990", B.cell 200 2 "2500" ]
        }

let part = B.Part

let tables =
      S.Report::{
      , name = "tables"
      , observations
      , title = "Tables"
      , intro = "What words print."
      , choices = [ pinned, best ]
      , parts =
        -- B.listings => tables: | 2 | 2
        [ part::{ title = "Rows", blocks = facts # B.listings [ listing ] }
        -- B.part, B.worst => tables: | before
        , B.part "Worst trials" (B.worst "Worst trials" finished 3)
        -- B.pivots => tables: | 200 | 1990
        , part::{ title = "Pivots", blocks = B.pivots [ diagonals, without ] }
        -- B.verdicts => tables: | All trials
        , part::{ title = "Verdicts", blocks = B.verdicts [ verdict, verdictOf, verdictWithout ] }
        -- B.sections, B.conclusions => tables: | [Finished](#metric-finished) | 1868 | 2054 | +187
        , part::{ title = "Averages", blocks = B.sections [ section ] # B.conclusions [ conclusion ] }
        -- B.charts => tables: Cumulative distributions
        , part::{ title = "Distributions", blocks = B.charts [ S.report.cdf finished ] }
        -- B.classTables => tables: | small
        , part::{ title = "Classes", blocks = B.classTables [ usedUp, against, acrossTrials ] }
        -- B.prose => tables: Trials of
        , part::{ title = "Words", blocks = B.prose "trials.md" }
        -- B.firstPage => tables: ## <a id="answer-1"
        , part::{ title = "Verdicts of all", blocks = B.firstPage }
        -- B.parameters, B.dictionary, B.dataQuality => tables: ## <a id="dictionary"
        , part::{ title = "Data", blocks = B.parameters # B.dictionary # B.dataQuality }
        ]
      , claims = [ claim ]
      , style = "prefixed"
      , label = constant.version.name
      }

let releases =
      S.Report::{
      , name = "releases"
      , observations = Some S.Observations::{ groups = [ O.group "Trials" "" [ trendOfRuns, slower ] ], plurals }
      , title = "Releases"
      , intro = "What words say of several runs."
      , parts = [ part::{ title = "Averages", blocks = B.sections [ section ] } ]
      , style = "prefixed"
      , label = constant.version.name
      }

let value = E.at [ "value" ] (E.real "value")

let host = E.at [ "labels", "host" ] (E.text "of_host")

let loaded =
      E.event { name = "loaded", source = source.samples.name, names = [ "load" ], fields = [ value, host ], doc = "Load of a host" }

let windows =
      S.Relation::{
      , name = "windows"
      , sql = "SELECT 1 AS one, min(t_ns) AS from_ns, max(t_ns) + 10000000000 AS to_ns FROM ${tried.name} HAVING count(*) > 0"
      , uses = [ tried.name ]
      , columns =
        [ G.column "integer" "one" U.none ""
        , G.column "instant" "from_ns" U.nanosecond ""
        , G.column "instant" "to_ns" U.nanosecond ""
        ]
      , key = [ "one" ]
      }

let reading =
      S.Series::{
      , name = ""
      , by = [ host.name ]
      , windows = windows.name
      , everyNs = 5000000000
      , reading = "latest"
      , windowNs = 10000000000
      , unit = U.none
      }

-- G.samples => figures: | Load |
let load = reading // { name = "load", doc = "Load", samples = G.samples loaded }

-- G.samplesWhere => figures: | Load of b |
let loadOfB =
          reading
      //  { name = "load_of_b", doc = "Load of b", samples = G.samplesWhere loaded (X.equals (G.field host) (X.text "b")) }

let computed =
      \(name : Text) ->
      \(doc : Text) ->
      \(term : G.Term) ->
      \(by : List Text) ->
        reading // { name, doc, terms = [ term ], value = G.termValue term, reading = "", windowNs = 0, by }

-- G.term => figures: | Double load |
let each = G.term "each" load

-- G.termValue => figures: | Double load |
let double =
          computed "double_load" "Double load" each [ host.name ]
      //  { value = X.plus (G.termValue each) (G.termValue each) }

let overHosts =
      \(name : Text) -> \(doc : Text) -> \(term : G.Term) -> computed name doc term ([] : List Text)

-- G.meanOf => figures: | Mean load |
let mean = overHosts "mean_load" "Mean load" (G.meanOf "each" load)

-- G.sumOf => figures: | Sum of loads |
let sum = overHosts "sum_load" "Sum of loads" (G.sumOf "each" load)

-- G.leastOf => figures: | Least load |
let least = overHosts "least_load" "Least load" (G.leastOf "each" load)

-- G.greatestOf => figures: | Greatest load |
let greatest = overHosts "greatest_load" "Greatest load" (G.greatestOf "each" load)

-- B.averages => figures: | Load | every label | 2 | 2.67
let averages = B.averages "Averages" [ load, loadOfB, double, mean, sum, least, greatest ]

-- B.averagesDuring => figures: | Load |
let averagesDuring = B.averagesDuring best (B.averages "During the best trial" [ load ])

-- B.lines, B.linesAndMean, B.meanOnly, B.stack => figures: ![Load
let timelines =
      [ B.lines "Load of hosts" load host.name
      , B.linesAndMean "Load and its mean" load host.name
      , B.meanOnly "Load in the mean" load
      , B.stack "Load as layers" load host.name
      ]

-- B.during => figures: ![Best load
let during = B.during best [ B.lines "Best load" load host.name ]

-- B.curve => figures: ![Curve
let curve = B.curve "Curve of trials" grain [ finished, expected ]

-- B.curveBy => figures: ![By
let curveBy = B.curveBy "By clients" grain finished c.clients

-- The samples of the load during each trial.
let sampled = G.column "instant" "sampled" U.nanosecond "Instant of the sample"

let loadThen = G.column "real" "load_then" U.none "Load at that instant"

let ofHost = G.columnOf host

let loadsOfTrials =
      S.Relation::{
      , name = "loads_of_trials"
      , sql =
          "SELECT number, l.of_host, l.t_ns AS sampled, l.value AS load_then "
          ++ "FROM ${trials.name} AS t JOIN ${loaded.name} AS l ON l.t_ns >= t.began AND l.t_ns < t.ended"
      , uses = [ trials.name, loaded.name ]
      , columns = [ c.number, ofHost, sampled, loadThen ]
      , key = [ "number", "of_host", "sampled" ]
      }

let loads =
      S.Grain::{
      , name = "load_of_trial"
      , relation = loadsOfTrials.name
      , key = loadsOfTrials.key
      , columns = loadsOfTrials.columns
      , doc = "A sample of the load during a trial"
      }

let ofLoads =
      \(id : Text) ->
      \(name : Text) ->
      \(measure : S.Expression) ->
      \(unit : S.Unit) ->
        S.Metric::{ id, name, grain = loads.name, measure, unit, doc = name }

let time =
      ofLoads "load_time" "Time" (X.minus (X.column sampled) (S.source.constant constant.start)) U.second

let loadOfTrial = ofLoads "trial_load" "Trial load" (X.column loadThen) U.none

-- B.scatter => figures: ![Trial load
let scatter =
      B.scatter
        { title = "Load"
        , grain = loads
        , per = c.number
        , of = grain
        , label = [ c.rate, c.clients ]
        , keys = [ c.rate, c.clients ]
        , x = time
        , y = loadOfTrial
        }

-- B.grid => figures: ![Columns
let grid = B.grid "Cases" best [ scatter ] [ B.lines "Load of hosts" load host.name ]

-- B.alternatives => figures: # Figures
let alternatives = B.alternatives [ source.samples, source.trials ]

let figures =
      S.Report::{
      , name = "figures"
      , title = "Figures"
      , intro = "What words draw."
      , choices = [ best ]
      , alternatives
      , parts =
        -- B.timelines => figures: ![Load
        [ part::{ title = "Timelines", blocks = B.timelines (timelines # during) }
        -- B.curves => figures: ![Curve
        , part::{ title = "Curves", blocks = B.curves [ curve, curveBy ] }
        -- B.scatters, B.grids => figures: ![Trial load
        , part::{ title = "Load of trials", blocks = B.scatters [ scatter ] # B.grids [ grid ] }
        -- B.averagesTables => figures: | Load | every label | 2 | 2.67
        , part::{ title = "Averages", blocks = B.averagesTables [ averages, averagesDuring ] }
        ]
      , cases = Some constant.version.name
      , style = "prefixed"
      , label = constant.version.name
      }

let small = { name = "small", title = "Small testbed" }

let large = { name = "large", title = "Large testbed" }

let trialsOfGroup = [ part::{ title = "Trials", blocks = B.listings [ listing ] } ]

-- B.ofGroup => groups: ## <a id="section-small-testbed-trials
let partsOfSmall = B.ofGroup small trialsOfGroup

-- B.verdictOfGroup => groups: | Small
let ofSmall = B.verdictOfGroup small (verdict // { scenario = "Small" })

-- B.notJudged => groups: | Large
let notJudged = B.notJudged large "Large"

let groups =
      S.Report::{
      , name = "groups"
      , title = "Groups"
      , intro = "What words print of groups of runs."
      , groups = [ small, large ]
      , parts = partsOfSmall # B.ofGroup large trialsOfGroup # [ part::{ title = "Results", blocks = B.verdicts [ ofSmall, notJudged ] } ]
      , style = "prefixed"
      , label = constant.version.name
      }

in  { load
    , events = [ tried, loaded ]
    , relations = [ trials, windows, loadsOfTrials ]
    , grains = [ grain, loads ]
    , series = [ load, loadOfB, double, mean, sum, least, greatest ]
    , metrics = [ finished, expected, time, loadOfTrial ]
    , reports = [ tables, releases, figures, groups ]
    }
