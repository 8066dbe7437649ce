-- Words of `R` and `P`, and those of `M` about formulas, filters and margins: each block names the lines of a report that it
-- prints.
let S = ../schema/package.dhall

let X = S.x

let G = S.grain

let M = S.metric

let R = S.report

let O = S.observation

let P = S.phase

let B = S.block

let U = S.unit

let source = ./source.dhall

let constant = source.constant

let instants = ./instants.dhall

let blocks = ./blocks.dhall

-- The rows again, for a section of all metrics of a grain.
let printed =
      G.eachRecord { name = "printed", event = source.row, fields = source.fields, doc = "A row of the table" }

let grain = printed.grain // { dimensions = [ source.field.ok.name ] }

let size =
      S.Metric::{
      , id = "size"
      , name = "Size"
      , doc = "Size of a row"
      , grain = grain.name
      , measure = X.asUnit U.byte (X.column (G.columnOf source.field.b))
      , unit = U.byte
      }

let number =
      S.Metric::{
      , id = "number"
      , name = "Number"
      , doc = "Number of the row"
      , grain = grain.name
      , measure = X.column (G.columnOf source.field.n)
      , unit = U.none
      }

-- M.formula, M.value, M.example, M.input, M.inputConstant => comparison: | [Share of a slot
let share =
          M.formula
            { id = "share"
            , name = "Share of a slot"
            , doc = "The mean size in each second of a slot"
            , formula = X.over (M.value size) (S.source.constant constant.slot)
            , unit = U.bytePerSecond
            }
      //  { examples =
            [ M.example
                [ M.input size 30.0 U.byte, M.inputConstant constant.slot 20.0 U.second ]
                "1.5"
                U.bytePerSecond
                "30 bytes in 20 seconds"
            ]
          }

-- M.ratio => comparison: | [Size by number
let ratio = M.ratio { id = "ratio", name = "Size by number", doc = "", unit = U.byte } size number

-- M.share => comparison: | [Rows that are ok
let shareOfOk =
      S.Metric::(     M.share (X.column (G.columnOf source.field.ok))
                  /\  { id = "share_of_ok", name = "Rows that are ok", grain = grain.name }
                )

-- M.percent => comparison: | [Within 10 %
let within10Percent = size // { id = "percent", name = "Within 10 %", margin = Some (M.percent "10") }

-- M.amount => comparison: | [Within 2 bytes
let within2Bytes = size // { id = "amount", name = "Within 2 bytes", margin = Some (M.amount "2" U.byte) }

-- M.percentOr => comparison: | [Within 10 % or 2 bytes
let withinBoth = size // { id = "both", name = "Within 10 % or 2 bytes", margin = Some (M.percentOr "10" "2" U.byte) }

-- M.all => comparison: | [Within
let margins = M.all (toMap { within10Percent, within2Bytes, withinBoth })

let n = { name = "n", type = "integer", unit = U.none }

-- M.parameter => comparison: | before | from
let from =
      S.Filter::{
      , name = "from"
      , parameter = Some n
      , conditions = [ { grain = grain.name, holds = X.atLeast (X.column (G.columnOf source.field.n)) (M.parameter n) } ]
      , doc = "Rows from number n on"
      }

let ok =
      S.Filter::{
      , name = "ok"
      , conditions = [ { grain = grain.name, holds = X.column (G.columnOf source.field.ok) } ]
      , doc = "Rows that are ok"
      }

let count = G.column "integer" "count" U.count "Rows"

let share_ = G.column "real" "share" U.none "Share of rows that are ok"

let totals =
      S.Relation::{
      , name = "totals"
      , sql = "SELECT 1 AS one, count(*) AS count, count(*) FILTER (ok) / count(*) AS share FROM ${source.row.name}"
      , uses = [ source.row.name ]
      , columns = [ G.column "integer" "one" U.none "", count, share_ ]
      , key = [ "one" ]
      }

let manifest =
      [ -- R.fact, R.text => comparison: | Version
        R.fact "Version" constant.version (R.text 3)
        -- R.textOr => comparison: | Note
      , R.fact "Note" constant.note (R.textOr "none" 0)
        -- R.factIf => comparison: | Version with a note
      , R.factIf "Version with a note" constant.version constant.note (R.text 0) // { id = "noted" }
        -- R.unsuffixed => comparison: | Units
      , R.fact "Units" constant.units (R.unsuffixed 0)
        -- R.unsuffixedOr => comparison: | Other note
      , R.fact "Other note" constant.note (R.unsuffixedOr "none" 0) // { id = "other_note" }
        -- R.integer => comparison: | Parts
      , R.fact "Parts" constant.parts R.integer
        -- R.spread => comparison: | Slot
      , R.fact "Slot" constant.slot (R.spread 0)
        -- R.date => comparison: | Day
      , R.fact "Day" constant.start R.date
        -- R.time => comparison: | Start
      , R.fact "Start" constant.start R.time // { id = "clock" }
        -- R.figure => comparison: | Rows
      , R.figure "Rows" totals count R.integer
        -- R.real => comparison: | Share
      , R.figure "Share" totals share_ (R.real 5)
        -- R.analysisDate => comparison: | Date of the report
      , R.analysisDate "Date of the report"
        -- R.filtersApplied => comparison: | Filters
      , R.filtersApplied "Filters"
      ]

-- R.section => comparison: ## <a id="section-sizes"
let sizes = R.section "Sizes" ([ size, share, ratio, shareOfOk ] # margins)

-- R.withAllOf => comparison: | [Number
let others = R.withAllOf grain (R.section "Others" ([] : List S.Metric.Type))

-- R.cdf => comparison: <a id="figure-size"
let chart = R.cdf size

-- R.logarithmic => comparison: <a id="figure-number"
let logarithmicChart = R.logarithmic (R.cdf number)

-- R.percentiles, R.linear => comparison: <a id="figure-amount"
let percentileChart = R.linear (R.percentiles within2Bytes)

-- R.group, R.groupWithAllOf => comparison: | <a id="metric-number"
let dictionary = [ R.group "Sizes" ([ size, share, ratio, shareOfOk ] # margins), R.groupWithAllOf grain (R.group "Others" ([] : List S.Metric.Type)) ]

-- R.uses => comparison: | before | ok
let whereOk = R.uses ok

-- R.usesWith => comparison: | before | from
let fromOne = R.usesWith from "1"

let filterFile =
      S.FilterFile::{
      , name = "row-filters"
      , conditions =
        [ -- R.tagged => filtered: | before | from
          R.tagged [ "Row", "NumberGEq" ] from
        ]
      }

let rows = B.listing "Rows" grain [ G.columnOf source.field.n ] [ size ]

-- B.rejected => comparison: | 2 | ok
let rejected = B.rejected (rows // { title = "Rejected rows" })

-- B.most => comparison: | 3 |
let most = B.most size (rows // { title = "Largest rows" })

-- B.withFiles => comparison: Largest rows: all rows are in files
let inFiles = B.withFiles most

-- O.amount => sentences: - Size rises
let sizeChanges = O.amount "1" U.byte [ size ]

-- O.unlessSaid => sentences: - Size rises
let shareChanges = O.unlessSaid [ size ] (O.percent "10" [ share ])

-- O.percent, O.withDetails => sentences: - Within 10 % rises
let marginChanges = O.withDetails [ within2Bytes ] (O.percent "10" [ within10Percent ])

-- O.together => sentences: - The size
let allChange = O.together "10" "The size within margins" [ within10Percent, within2Bytes, withinBoth ]

-- O.group => sentences: **Sizes**
let sizeGroup = O.group "Sizes" "No significant change: {name}." [ sizeChanges, shareChanges, marginChanges, allChange ]

-- O.below => sentences: - Size rises
let sizeWords = [ O.below "10" "small", O.below "50" "large" ]

let observations =
      S.Observations::{
      , groups = [ sizeGroup ]
      , sizes = sizeWords
      , beyond = "huge"
      }

-- R.comparison, R.versions => comparison: | Version
let ofVersions = R.comparison [ sizes, others ] // R.versions constant.version

let comparison =
          ofVersions
      //  { intro = "What words print."
          , manifest
          , charts = [ chart, logarithmicChart, percentileChart ]
          , dictionary
          , filters = [ whereOk, fromOne ]
          , parts = [ B.Part::{ title = "Rows", blocks = B.listings [ rejected, inFiles ] } ]
            -- R.metricIds => comparison: | [Size
          , also = R.metricIds [ size ]
          }

let sentences =
      comparison // { name = "sentences", judgement = None S.Judgement.Type, observations = Some observations }

-- P.constant => phases: | [Number
let middle = P.constant constant.middle

-- P.firstOf => phases: | [Number
let opened = P.firstOf "opened" instants.received "The first request"

-- P.before, P.between, P.after => phases: | [Number
let phases = [ P.before "early" opened, P.between "requests" opened middle, P.after "late" middle ]

-- P.lastOf => ends: | [Number
let closed = P.lastOf "closed" instants.sent "The last response"

let at = G.column "instant" "at" U.nanosecond "Instant of a row that is not ok"

let failures =
      S.Relation::{
      , name = "failures"
      , sql = "SELECT n, t_ns AS at FROM ${source.row.name} WHERE NOT ok"
      , uses = [ source.row.name ]
      , columns = [ G.column "integer" "n" U.none "", at ]
      , key = [ "n" ]
      }

-- P.firstIn => ends: | [Number
let failed = P.firstIn "failed" failures.name at "The first row that is not ok"

-- P.option, P.optional => ends: | [Number
let stopped = P.optional (P.option "stopped" "When the user stopped the run, if --at says so")

let ends = [ P.before "requests" closed, P.after "failures" failed, P.after "stopped" stopped ]

let cutReport =
      \(name : Text) ->
      \(phases : List S.Phase.Type) ->
            comparison
        //  { name
            , phases
            , filters = [] : List R.FilterUse
            , parts = [] : List B.Part.Type
            , sections = [ R.section "Rows" [ number ] ]
            , charts = [] : List R.Chart
            , dictionary = [ R.group "Rows" [ number ] ]
            , also = [] : List Text
            }

-- R.splitBy => course: | [Size
let byOk = R.splitBy [ G.columnOf source.field.ok ] (R.section "Sizes" [ size ])

-- R.chartBy => course: Not drawn
let chartByOk = R.chartBy [ G.columnOf source.field.ok ] size

-- G.wholeRun => course: ![Requests over
let wholeRun = G.wholeRun "whole_run" [ instants.received ]

let requests =
      S.Series::{
      , name = "requests_over_time"
      , samples = G.samples instants.received
      , windows = wholeRun.name
      , everyNs = 10000000000
      , reading = "count"
      , unit = U.count
      , doc = "Requests in each ten seconds"
      }

let judged = grain // { name = "judged", instants = [] : List S.Instant.Type, at = "", time = "" }

let smaller = size // { id = "smaller", name = "Smaller", grain = judged.name, better = "lower" }

-- R.segmentId => course: - **Smaller
let gate = [ R.segmentId smaller (G.columnOf source.field.ok) "true" ]

let timelines =
      [ -- R.timeline => course: ![Requests over
        R.timeline "Requests" requests
        -- R.timelineOfMean => course: ![Mean load
      , R.timelineOfMean "Mean load" blocks.load
        -- R.timelineOfSum => course: ![Sum of loads
      , R.timelineOfSum "Sum of loads" blocks.load
        -- R.timelineOfLeast => course: ![Least load
      , R.timelineOfLeast "Least load" blocks.load
        -- R.timelineOfGreatest => course: ![Greatest load
      , R.timelineOfGreatest "Greatest load" blocks.load
      ]

let course =
          cutReport "course" ([] : List S.Phase.Type)
      //  { sections = [ byOk ]
          , charts = [ chartByOk ]
          -- B.runTimelines => course: ![Requests over
          , parts = [ B.Part::{ title = "Over time", blocks = B.runTimelines timelines } ]
          , dictionary = [ R.group "Sizes" [ size, smaller ] ]
          , judgement = Some S.Judgement::{ gate }
          }

-- R.rowLabels => published: | Version
let rowLabels = R.rowLabels [ R.fact "Version" constant.version (R.text 3) ]

let first =
      S.Edition::{
      , name = "2025"
      , since = "2025-01-01"
      , style = "typst-2026"
      , manifest = rowLabels
      , sections = [ R.section "Rows" [ size, number, share ] ]
      , charts = [] : List R.Chart
      , dictionary = [ R.group "Rows" [ size, number, share ] ]
      , labels =
        [ -- R.named => published: | [Row number
          R.named number "Row number"
          -- R.inUnit => published: | [Size
        , R.inUnit size "octets"
          -- R.labelled => published: | [Slot share
        , R.labelled share "Slot share" "octets/s"
        ]
      }

let published = cutReport "published" ([] : List S.Phase.Type) // { editions = [ first ] }

let history =
      S.History::{
      , name = "history"
      , title = "Rows until {last}"
      , intro = "Rows over publications."
      , over = Some S.Publications::{ of = published.name }
      , parts =
        [ -- B.levelShifts => history: Too few
          B.levelShifts
          -- B.largestMoves => history: | Size
        , B.largestMoves 3
        ]
        -- B.trends => history: ![
        # B.trends first.sections
      }

in  { number
    , metrics = [ size, number, share, ratio, shareOfOk, smaller ] # margins
    , filters = [ from, ok ]
    , filterFiles = [ filterFile ]
    , relations = [ totals, failures, printed.relation, wholeRun ]
    , grains = [ grain, judged ]
    , cuts = [ middle, opened, closed, failed, stopped ]
    , series = [ requests ]
    , reports = [ comparison, sentences, cutReport "phases" phases, cutReport "ends" ends, course, published, history ]
    }
