-- Benchmarks of a Go package: the output of `go test -bench . -benchmem -count 24`.
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let Q = S.example

let R = S.report

let U = S.unit

let version = S.Constant::{ name = "version", files = [ "meta.json" ], path = [ "version" ] }

-- The output has no instants: `time` is empty, and reports take their date from `--date`.
let output =
      S.Source::{
      , name = "output"
      , kind = "text-lines"
      , logs = [ "bench.txt" ]
      , time = [] : List Text
      , constants = [ version ]
      , ignored = [ "goos: *", "goarch: *", "pkg: *", "cpu: *", "PASS", "ok *" ]
      }

let field =
      { benchmark = E.text "benchmark"
      , iterations = E.inUnit U.count (E.integer "iterations")
      , time = E.inUnit U.nanosecond (E.real "time_per_op") // { doc = "Time per call" }
      , memory = E.inUnit U.byte (E.optional (E.integer "memory_per_op")) // { doc = "Allocated bytes per call" }
      , allocations = E.inUnit U.count (E.optional (E.integer "allocations_per_op"))
      }

-- `-8` is the number of processors; without `-benchmem` the optional part is absent.
let line = "Benchmark{benchmark}-{} {iterations} {time_per_op} ns/op{? {memory_per_op} B/op {allocations_per_op} allocs/op?}"

let measured =
      E.event
        { name = "measured"
        , source = output.name
        , names = [ line ]
        , fields = [ field.benchmark, field.iterations, field.time, field.memory, field.allocations ]
        , doc = "A result of a benchmark"
        }

let result = G.records "result" measured "One of the repetitions of a benchmark"

let grain = result.grain // { instants = [] : List S.Instant.Type, at = "", time = "seq" }

-- A metric of one benchmark: a field of its results.
let metricOf =
      \(f : S.Field) ->
      \(word : Text) ->
      \(benchmark : Text) ->
            S.metric.lower grain f.unit "${word}_${benchmark}" benchmark (G.valueOf f)
        //  { where = S.x.equals (G.valueOf field.benchmark) (S.x.text benchmark), doc = "${f.doc} of ${benchmark}" }

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

in  S.Package::{
    , system = "gobench"
    , sources = [ output ]
    , events = [ measured ]
    , relations = [ result.relation ]
    , grains = [ grain ]
    , metrics = S.metrics (toMap m)
    , reports =
      [     R.comparison
              [ R.section "Time per call" [ m.encode, m.encodeLarge, m.decode ]
              , R.section "Memory per call" [ m.encodeMemory, m.encodeLargeMemory, m.decodeMemory ]
              ]
        //  R.versions version
        //  { intro = "Benchmarks of the package, each repeated 24 times.", charts = [ R.cdf m.encode, R.cdf m.decode ] }
      ]
    , examples =
      [ S.Example::{
        , name = "two benchmarks, one without memory"
        , files =
          [ Q.file "meta.json" "{\"version\": \"a\"}"
          , Q.file
              "bench.txt"
              ''
              goos: linux
              BenchmarkEncode-8 1203412 987.4 ns/op 312 B/op 5 allocs/op
              BenchmarkDecode-8  800000  1500 ns/op
              ''
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
