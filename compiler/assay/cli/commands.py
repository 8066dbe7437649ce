"""List the commands in the order of `assay --help`: where each is defined, its summary and examples.

A command is imported when it is called, so that its module may import what it needs.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command: its summary, and examples of use with names of the workspace that `assay init` writes.

    `place` is its `MODULE:NAME` in this package; empty if both have the name of the command.
    """

    summary: str
    examples: tuple[str, ...]
    place: str = ""


#: heading -> commands
SECTIONS: dict[str, dict[str, CommandEntry]] = {
    "Author": {
        "init": CommandEntry(
            "Create a workspace with a small example that builds at once.",
            (
                "assay init my-metrics",
                "assay init shop --from web-1/log.jsonl web-2/log.jsonl",
            ),
        ),
        "config": CommandEntry(
            "Print the settings of assay.toml: effective values, where each comes from, the option that overrides it.",
            (
                "assay config",
                "assay config --schema > assay.schema.json",
            ),
        ),
        "check": CommandEntry(
            "Check all specs: types, names, units, cycles, SQL.",
            (
                "assay check",
                "assay check --accept",
            ),
        ),
        "test": CommandEntry(
            "Run the examples in the specs, and list what no example covers.",
            ("assay test --system service --junit examples.xml",),
            "test:run_examples",
        ),
        "slice": CommandEntry(
            "Write the log lines behind one sample as an example that `assay test` runs.",
            ("assay slice wait --run runs/1.0 --around request=2-034",),
            "slice:write_slice",
        ),
        "watch": CommandEntry(
            "Rebuild a report whenever specs, queries, templates or runs change.",
            (
                "assay watch service/comparison --run runs/1.0 --run runs/1.1 -o build/live",
                "assay watch service/comparison --run runs/1.0 --run runs/1.1 -o build/live --serve",
            ),
        ),
        "schema": CommandEntry(
            "Print the JSON Schema of a document of a run.", ("assay schema meta.json --system service",)
        ),
        "lsp": CommandEntry("Start the language server for specs, over stdin and stdout.", ("assay lsp",)),
    },
    "Build": {
        "build": CommandEntry(
            "Build a report over runs, or a history of publications and builds.",
            ("assay build service/comparison --run base=runs/1.0 --run new=runs/1.1 -o build/comparison",),
        ),
        "watch-runs": CommandEntry(
            "Build, register, record and gate each run that appears in a folder, once.",
            (
                "assay watch-runs /data/nights service/comparison -o build/nights --command ./tell.sh",
                "assay watch-runs s3://benchmarks/nights service/comparison -o build/nights --marker DONE --once",
            ),
            "watch_runs:watch_runs",
        ),
        "work": CommandEntry(
            "Run tasks of builds with `--on folder:QUEUE`.", ("assay work /shared/queue --idle-exit 300",)
        ),
        "regenerate": CommandEntry(
            "Rebuild a published report from its printed values.",
            ("assay regenerate publication.json -o build/again",),
        ),
        "ingest": CommandEntry(
            "Ingest runs to Parquet, and print the folder of each source of each run.",
            ("assay ingest runs/1.0 runs/1.1",),
        ),
        "fetch": CommandEntry(
            "Download raw samples from a server.",
            (
                "assay fetch prometheus http://127.0.0.1:9090 --match '{job=\"web\"}' --start 2026-11-21T00:00:00Z "
                "--end 2026-11-21T01:00:00Z -o runs/1.2",
            ),
        ),
        "query": CommandEntry(
            "Compute metrics and print their distributions: in JSON with all percentiles.",
            ("assay query wait work --run runs/1.0 --format csv",),
        ),
        "samples": CommandEntry(
            "Export the samples of a metric, or the values of a series, with the keys that identify them.",
            ("assay samples wait --run runs/1.0 --format parquet -o wait.parquet",),
        ),
        "compare": CommandEntry(
            "Compare runs with the first: averages, changes with intervals, verdicts.",
            (
                "assay compare runs/1.0 runs/1.1",
                "assay compare base=runs/1.0 new=runs/1.1 --metric wait --format csv",
            ),
        ),
        "why": CommandEntry(
            "Tell which step, host, value or time a change comes from.",
            (
                "assay why request runs/1.0 runs/1.1",
                "assay why request base=runs/1.0 new=runs/1.1 --format json",
            ),
        ),
    },
    "Keep": {
        "runs": CommandEntry(
            "Register runs by name, tags, commit and day.",
            (
                "assay runs add runs/1.1 --name 1.1 --tag release",
                "assay runs list --tag release",
                "assay runs remove 1.1",
            ),
            "registry:runs",
        ),
        "results": CommandEntry(
            "Record the results of builds, and export them.",
            (
                "assay results add build/comparison",
                "assay results export --to csv -o results.csv",
            ),
            "registry:results",
        ),
        "history": CommandEntry(
            "Print a metric over recorded runs by day, with its level shifts.",
            (
                "assay history wait work",
                "assay history wait --tag release --last 20 --format csv",
            ),
        ),
        "shifts": CommandEntry(
            "List level shifts and drifts of recorded metrics; accept, annotate or reopen one.",
            (
                "assay shifts list",
                "assay shifts accept wait night-10 --reason 'TLS is on'",
                "assay shifts reopen wait night-10 --reason 'TLS is off again'",
            ),
        ),
    },
    "Observe": {
        "draft": CommandEntry(
            "Draft what is said of the tables of a report.",
            (
                "assay draft build/comparison > observations.md",
                "assay draft small=build/small large=build/large > observations.md",
                "assay draft build/comparison -o texts",
            ),
            "observations:draft",
        ),
        "check-prose": CommandEntry(
            "Tell whether edited observations agree with the tables.",
            ("assay check-prose observations.md build/comparison", "assay check-prose texts build/comparison"),
            "observations:check_prose",
        ),
    },
    "Trust": {
        "explain": CommandEntry(
            "Explain what a metric or series means, where it comes from, and where it appears.",
            ("assay explain wait --run runs/1.0",),
        ),
        "lineage": CommandEntry(
            "Show the column lineage of a metric, or of everything that a report prints.",
            ("assay lineage wait --format dot",),
        ),
        "trace": CommandEntry(
            "Trace a cell of a built report to its samples and their log lines.",
            ("assay trace build/comparison 'Times/Waiting time/1.1'",),
        ),
        "verify": CommandEntry(
            "Rebuild a report from its provenance and compare every byte.", ("assay verify build/comparison",)
        ),
        "spec-diff": CommandEntry(
            "Compare the specs of A and B, and the options and data of two builds.",
            (
                "assay spec-diff HEAD~1 .",
                "assay spec-diff build/before build/after --format json",
            ),
            "diff:spec_diff",
        ),
        "gate": CommandEntry(
            "Tell whether metrics got worse by more than their margins.",
            (
                "assay gate build/comparison",
                "assay gate build/comparison --once --format json",
            ),
        ),
        "plan": CommandEntry(
            "Print how many runs of each version show a change of the gated metrics in 80 of 100 cases.",
            (
                "assay plan build/comparison --detect 5%",
                "assay plan service/comparison --results results",
            ),
        ),
        "decide": CommandEntry(
            "Run two commands in alternation until a metric is decided.",
            ("assay decide --base './bench v1' --candidate './bench v2' --metric wait -o runs/decide",),
        ),
        "bisect": CommandEntry(
            "Find the commit that made a metric worse.",
            ("assay bisect v1.0 --measure 'make && ./bench' --metric wait -o runs/bisect",),
        ),
    },
    "Look": {
        "serve": CommandEntry(
            "Show runs, comparisons, histories and definitions in the browser.",
            (
                "assay serve",
                "assay serve --results results --port 0",
            ),
        ),
        "site": CommandEntry(
            "Write the metrics over time as web pages that need no server.",
            ("assay site --results results -o build/site",),
        ),
        "list": CommandEntry(
            "List metrics, events, grains, columns, filters, series or reports.",
            ("assay list metrics --system service",),
            "definitions:list_",
        ),
        "inspect": CommandEntry(
            "List the record names in a run, with their counts, events and metrics.",
            (
                "assay inspect runs/1.0",
                "assay inspect runs/1.0 --system service --format json",
            ),
        ),
        "sql": CommandEntry("Print the SQL of a metric as one statement.", ("assay sql wait --run runs/1.0",)),
        "catalogue": CommandEntry(
            "Write all definitions as linked, searchable web pages.",
            (
                "assay catalogue -o build/site",
                "assay catalogue --system service -o build/service",
            ),
        ),
        "cache": CommandEntry(
            "Show the size of the cache; `prune` shrinks it.",
            (
                "assay cache",
                "assay cache prune --older-than 30d",
                "assay cache prune --to-size 5GB",
            ),
        ),
        "completion": CommandEntry(
            "Print a shell script that completes commands and names.", ("assay completion bash > ~/.assay-completion",)
        ),
    },
}

COMMANDS = {name: entry for entries in SECTIONS.values() for name, entry in entries.items()}
