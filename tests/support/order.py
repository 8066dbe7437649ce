"""The order of test files: the longest first, so that workers that take whole files end together."""

from __future__ import annotations

#: files that take more than ten seconds of processor time, the longest first; the live run there waits most of its time
HEAVIEST = (
    "test_docs.py", "test_faults.py", "test_other_pythons.py", "test_report_html_browser.py",
    "test_antelope_upgrade.py", "test_same_bytes.py",
    "test_goldens.py", "test_properties.py", "test_verify.py", "test_new_metric.py", "test_errors_specs.py",
    "test_cometbft_article.py", "test_outputs.py", "test_phases.py", "test_explain.py", "test_formulas_errors.py",
    "test_reference_runs.py", "test_errors_builds.py", "test_history_errors.py", "test_catalogue.py",
    "test_ingest_samples.py", "test_ingest_reference.py", "test_diff.py", "test_oracle.py", "test_cometbft.py",
    "test_errors_lines.py", "test_examples.py", "test_fetch.py", "test_series.py", "test_cache.py",
    "test_ingest_blocks.py", "test_claims.py", "test_lineage.py", "test_antelope_harness.py", "test_history.py",
    "test_ingest_lines.py", "test_ingest_text.py", "test_ingest_events.py", "test_ingest_tables.py",
)  # fmt: skip
_PLACES = {name: place for place, name in enumerate(HEAVIEST)}


def heaviest_first(file: str) -> int:
    """Where a file stands: as listed, then all others as they come."""
    return _PLACES.get(file, len(HEAVIEST))
