# `just` lists the recipes. Without just, `python3 bootstrap.py RECIPE` sets up the project first.

export PATH := justfile_directory() / ".venv/bin:" + env("PATH")

baseline := "golden/cardano/baseline/run"
candidate := "golden/cardano/candidate/run"

[private]
default:
    @just --list --unsorted

# Install the versions of uv.lock into .venv unless it is up to date.
setup:
    @python3 bootstrap.py

# Build the native scanner unless it is up to date or Rust is not installed.
scanner:
    @python native/hatch_build.py

# Build the comparison report of the two runs in golden/ and print the path of the PDF.
demo out="build/demo": scanner
    assay build cardano/comparison --run 10.5={{baseline}} --run 10.6={{candidate}} -o {{quote(out)}}
    @echo "{{absolute_path(out)}}/report.pdf"

# Lint, check types and run the tests; arguments are passed to pytest.
[parallel]
test *args: scanner lint types
    pytest -n auto --dist loadfile --no-loadscope-reorder {{args}}

# Run all tests, including those that `test` only samples (half an hour).
deep *args: scanner
    pytest -n auto --dist loadfile --no-loadscope-reorder --deep {{args}}

# Run the evaluator's tests and one build on other installed Pythons (arguments: versions; default: all).
pythons *versions:
    python -m tools.pythons {{versions}}

# Lint and check the formatting.
lint:
    ruff check .
    ruff format --check .
    @if cargo clippy --version >/dev/null 2>&1; then cd native && cargo clippy --quiet --locked --offline --all-targets -- --deny warnings && cargo fmt --check; fi

# Check types.
types:
    mypy compiler

# Check names, types, units and cycles of the specs.
check:
    assay check

# Compare drafted observations with what release reports state (argument: a file of facts; --details lists differences).
observations *args:
    PYTHONPATH=compiler python tools/observations.py {{args}}

# Print for which kinds of logs `init --from` proposes what is right (arguments: kinds; --accept records the scores).
corpus *args: scanner
    python tools/corpus.py {{args}}

# Compare produced files with golden/ (arguments: specs, sql, starter, reports); exit status 3 on a difference.
golden *parts:
    python tools/golden.py check {{parts}}

# Replace golden files by produced ones and print the differences.
accept *parts:
    python tools/golden.py accept {{parts}}

# Check that all commands are documented, and execute all examples of the documentation.
docs *args:
    pytest tests -m docs {{args}}

# Build the site of the docs into a new folder.
site out="build/site":
    python tools/docs_site.py {{quote(out)}}

# Render the first page of the demo for the README (needs pdftoppm).
picture: demo
    pdftoppm -r 84 -f 1 -l 1 -singlefile -png build/demo/report.pdf docs/images/report-page

# Render the first page of each report of examples/ (needs pdftoppm).
pictures: scanner
    @for folder in examples/*/; do \
        (cd "$folder" && sh -c "$(grep '^assay build' README.md)" > /dev/null \
            && pdftoppm -r 68 -H 450 -f 1 -l 1 -singlefile -png build/comparison/report.pdf report); \
    done

# Compare speed and memory with DuckDB's reader on simulated runs (--help lists the options).
bench *args: scanner
    python bench/compare.py {{args}}

# Compare builds of 52 hosts, 0.3 to 10 GB, with other programs (15 minutes, 15 GB of disk).
sizes *args: scanner
    python bench/sizes.py {{args}}

# Measure the report of a testnet of 200 nodes: time, memory, sizes, the first chart of its page (two minutes).
nodes *args: scanner
    python bench/nodes.py {{args}}

# Measure the time from an edit of a metric to the report, with watch and with build (a few minutes).
edits *args: scanner
    python bench/edits.py {{args}}

# Write a simulated run: just simulate OUT --hosts 6 --megabytes 275 --seed 1
simulate *args:
    python bench/simulate.py {{args}}

# Fuzz user input for some minutes; fail on a traceback or a hang (options: python -m fuzz.run --help).
fuzz minutes="30" *args:
    ASSAY_FUZZ_EXAMPLES=5 pytest -q tests/ingest/test_corrupted_lines.py
    python -m fuzz.run --minutes {{minutes}} {{args}}

# Fuzz one Python reader guided by code coverage (needs `pip install atheris`).
guided target seconds="120":
    python -m fuzz.guided {{target}} --seconds {{seconds}}

# Build the wheel into dist/.
wheel:
    hatchling build --target wheel --directory dist

# Build source distribution, wheels of all platforms and SBOM into dist/ (arguments: see --help).
wheels *args:
    uv run --quiet --isolated --frozen --only-group release python tools/wheels.py {{args}}

# Format the code and apply automatic fixes of the linter.
fmt:
    ruff check --fix .
    ruff format .
    @if cargo fmt --version >/dev/null 2>&1; then cd native && cargo fmt; fi

# Print the changelog entries of the next release, from the fragments in changes/.
changelog:
    towncrier build --draft --version Unreleased

# Update uv.lock within the ranges of pyproject.toml.
lock:
    uv lock --upgrade

# Remove build outputs and caches; `rm -r .venv` removes the environment.
clean:
    rm -rf build dist native/target .mypy_cache .pytest_cache .ruff_cache .hypothesis
