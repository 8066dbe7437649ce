-- Benchmarks of a Go package: the output of `go test -bench . -benchmem -count 24`.
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let R = S.report

let U = S.unit

let version =
      S.Constant::{
      , name = "version"
      , files = [ "meta.json" ]
      , path = [ "version" ]
      , type = "text"
      , doc = "Name of the run in reports"
      }

-- The output has no instants: `time` is empty, and reports take their date from `--date`.
let output =
      S.Source::{
      , name = "output"
      , kind = "text-lines"
      , hosts = ""
      , logs = [ "bench.txt" ]
      , time = [] : List Text
      , body = [] : List Text
      , lookups = [] : List S.source.Lookup
      , constants = [ version ]
      , ignored = [ "goos: *", "goarch: *", "pkg: *", "cpu: *", "PASS", "ok *" ]
      , doc = "Output of go test"
      }

let field =
      { benchmark = E.text "benchmark"
      , iterations = E.inUnit U.count (E.integer "iterations")
      , time = E.inUnit U.nanosecond (E.real "time_per_op") // { doc = "Time per call" }
      , memory = E.inUnit U.byte (E.optional (E.integer "memory_per_op")) // { doc = "Allocated bytes per call" }
      , allocations = E.inUnit U.count (E.optional (E.integer "allocations_per_op"))
      }

let fields = [ field.benchmark, field.iterations, field.time, field.memory, field.allocations ]

-- `-8` is the number of processors; without `-benchmem` the optional part is absent.
let line = "Benchmark{benchmark}-{} {iterations} {time_per_op} ns/op{? {memory_per_op} B/op {allocations_per_op} allocs/op?}"

let measured =
      E.event { name = "measured", source = output.name, names = [ line ], fields, doc = "A result of a benchmark" }

let result =
      G.eachRecord { name = "result", event = measured, fields, doc = "One of the repetitions of a benchmark" }

let grain = result.grain // { instants = [] : List S.Instant.Type, at = "", time = "seq" }

let column = \(f : S.Field) -> S.x.column (G.columnOf f)

-- A metric of one benchmark: a field of its results.
let metricOf =
      \(f : S.Field) ->
      \(word : Text) ->
      \(benchmark : Text) ->
        S.Metric::{
        , id = "${word}_${benchmark}"
        , name = benchmark
        , grain = grain.name
        , measure = column f
        , where = S.x.equals (column field.benchmark) (S.x.text benchmark)
        , unit = f.unit
        , better = "lower"
        , doc = "${f.doc} of ${benchmark}"
        }

let timeOf = metricOf field.time "time"

let memoryOf = metricOf field.memory "memory"

let m =
      { encode = timeOf "Encode"
      , encodeLarge = timeOf "EncodeLarge"
      , decode = timeOf "Decode"
      , encodeMemory = memoryOf "Encode"
      , encodeLargeMemory = memoryOf "EncodeLarge"
      , decodeMemory = memoryOf "Decode"
      }

let times = [ m.encode, m.encodeLarge, m.decode ]

let memory = [ m.encodeMemory, m.encodeLargeMemory, m.decodeMemory ]

let Q = S.example

in  S.Package::{
    , system = "gobench"
    , sources = [ output ]
    , events = [ measured ]
    , relations = [ result.relation ]
    , grains = [ grain ]
    , metrics = S.metrics (toMap m)
    , summaries = [ S.Summary::{ name = "all", doc = "All samples count alike" } ]
    , reports =
      [ S.Report::{
        , name = "comparison"
        , title = "{others} against {base}"
        , intro = "Benchmarks of the package, each repeated 24 times."
        , manifest = [ R.fact "Version" version (R.text 0) ]
        , sections = [ R.section "Time per call" times, R.section "Memory per call" memory ]
        , charts = [ R.cdf m.encode, R.cdf m.decode ]
        , dictionary = [ R.group "Benchmarks" (times # memory) ]
        , style = "prefixed"
        , summary = "all"
        , label = version.name
        }
      ]
    , examples =
      [ S.Example::{
        , name = "two benchmarks, one without memory"
        , files =
          [ Q.file "meta.json" "{\"version\": \"a\"}"
          , Q.file
              "bench.txt"
              ( Q.lines
                  [ "goos: linux"
                  , "BenchmarkEncode-8   \t 1203412\t       987.4 ns/op\t     312 B/op\t       5 allocs/op"
                  , "BenchmarkDecode-8   \t  800000\t      1500 ns/op"
                  ]
              )
          ]
        , expect =
          [ Q.samples m.encode [ "987.4" ]
          , Q.samples m.decode [ "1500" ]
          , Q.none m.encodeLarge
          , Q.none m.encodeLargeMemory
          , Q.samples m.encodeMemory [ "312" ]
          , Q.none m.decodeMemory
          ]
        }
      ]
    }
