"""The order of test files: the longest first, so that workers that take whole files end together."""

from __future__ import annotations

from pathlib import Path

_TESTS = Path(__file__).resolve().parent.parent

#: files that take more than eight seconds of processor time, the longest first; a live run there waits most of its time
HEAVIEST = (
    "test_other_pythons.py", "test_lsp.py", "test_goldens.py", "report/test_html_browser.py", "test_scanner.py",
    "test_faults.py", "test_antelope_upgrade.py", "test_docs.py", "test_kept_builds.py", "test_reference_runs.py",
    "test_cometbft_article.py", "test_portions.py", "engine/test_limit.py", "test_errors_specs.py",
    "test_quality.py", "test_same_bytes.py", "explain/test_explain.py", "lineage/test_trace_articles.py",
    "test_verify.py", "test_new_metric.py", "test_ingest_bytes.py", "test_ingest_blocks.py",
    "test_antelope_harness.py", "diff/test_diff.py", "test_damaged_caches.py", "test_examples.py",
    "lineage/test_trace.py", "report/test_pdf.py", "test_ingest_samples.py", "test_counters_fall.py",
    "test_company.py", "test_phases.py", "test_confined_files.py", "test_cometbft.py", "test_remote.py",
    "test_article_verdicts.py", "test_oracle.py", "test_properties.py", "report/test_html.py",
    "lineage/test_trace_everything.py", "test_ingest_corrupted.py", "test_text_order.py",
    "test_cometbft_bad_inputs.py", "test_packaging.py", "lineage/test_lineage.py", "test_watching.py",
    "test_ingest_tables.py", "test_slots_fit.py", "engine/test_row_order.py", "sql/test_printed_sql.py",
    "test_author.py", "test_ingest_strange.py", "test_regenerate.py", "test_cometbft_article_errors.py",
    "test_outputs.py", "report/test_charts.py", "test_ingest_text.py",
)  # fmt: skip
_PLACES = {name: place for place, name in enumerate(HEAVIEST)}


def name_of(path: Path) -> str:
    """Return the path of a test file below tests/, with slashes; of a file elsewhere, its name."""
    return path.relative_to(_TESTS).as_posix() if path.is_relative_to(_TESTS) else path.name


def heaviest_first(path: Path) -> int:
    """Return the place of a test file in the order: as listed, then all others as they come."""
    return _PLACES.get(name_of(path), len(HEAVIEST))
