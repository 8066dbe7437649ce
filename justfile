# `just` alone lists the recipes. Without just: `python3 bootstrap.py RECIPE` sets everything up first.

export PATH := justfile_directory() / ".venv/bin:" + env("PATH")

baseline := "golden/cardano/baseline/run"
candidate := "golden/cardano/candidate/run"

[private]
default:
    @just --list --unsorted

# Make .venv what uv.lock says (does nothing when it is).
setup:
    @python3 bootstrap.py

# Build the scanner, the part of ingest in native code (does nothing where it is, or where Rust is not).
scanner:
    @python native/hatch_build.py

# Build the comparison report of the two runs in golden/, and print where the PDF is.
demo out="build/demo": scanner
    assay build cardano/comparison --run 10.5={{baseline}} --run 10.6={{candidate}} -o {{quote(out)}}
    @echo "{{absolute_path(out)}}/report.pdf"

# Lint, check types, then run the tests; arguments go to pytest.
[parallel]
test *args: scanner lint types
    pytest -n auto --dist loadfile --no-loadscope-reorder {{args}}

# Run every test there is, also those of which `test` runs a sample (half an hour).
deep *args: scanner
    pytest -n auto --dist loadfile --no-loadscope-reorder --deep {{args}}

# Run the evaluator's tests and one build on other Pythons that are here (versions are arguments; default all).
pythons *versions:
    python -m tools.pythons {{versions}}

# Lint, and check the formatting.
lint:
    ruff check .
    ruff format --check .
    @if cargo clippy --version >/dev/null 2>&1; then cd native && cargo clippy --quiet --locked --offline --all-targets -- --deny warnings && cargo fmt --check; fi

# Check types, strictly.
types:
    mypy compiler/assay

# Check the specs: names, types, units, cycles.
check:
    assay check

# Compare what is produced now with golden/: specs, sql, reports; exit status 3 when anything differs.
golden *parts:
    python tools/golden.py check {{parts}}

# Take what is produced now for golden, and show the difference.
accept *parts:
    python tools/golden.py accept {{parts}}

# Check the documentation: every command documented, every example executed.
docs *args:
    pytest tests -m docs {{args}}

# Remake the picture of a report's page in the README (needs pdftoppm).
picture: demo
    pdftoppm -r 96 -f 3 -l 3 -singlefile -png build/demo/report.pdf docs/images/report-page

# Measure speed and memory on simulated runs, beside DuckDB's own reader (--help lists the options).
bench *args: scanner
    python bench/compare.py {{args}}

# Measure builds of 52 hosts, 0.3 to 10 GB (a quarter of an hour, 15 GB of disk), beside other programs.
sizes *args: scanner
    python bench/sizes.py {{args}}

# Measure from an edit of a metric to the report, by watch and by build (a few minutes).
edits *args: scanner
    python bench/edits.py {{args}}

# Write a simulated run: just simulate OUT --hosts 6 --megabytes 275 --seed 1
simulate *args:
    python bench/simulate.py {{args}}

# Break at random what users give, for so many minutes: no traceback, no hang (--help of fuzz.run lists the options).
fuzz minutes="30" *args:
    ASSAY_FUZZ_EXAMPLES=5 pytest -q tests/ingest/test_corrupted_lines.py
    python -m fuzz.run --minutes {{minutes}} {{args}}

# Fuzz one reader of pure Python, following the code that cases reach (needs `pip install atheris`).
guided target seconds="120":
    python -m fuzz.guided {{target}} --seconds {{seconds}}

# Build the wheel into dist/.
wheel:
    hatchling build --target wheel --directory dist

# Format the code, and mend what the linter can.
fmt:
    ruff check --fix .
    ruff format .
    @if cargo fmt --version >/dev/null 2>&1; then cd native && cargo fmt; fi

# Renew uv.lock within the ranges of pyproject.toml.
lock:
    uv lock --upgrade

# Remove what was built; `rm -r .venv` removes the environment too.
clean:
    rm -rf build dist native/target .mypy_cache .pytest_cache .ruff_cache .hypothesis
