"""The order of test files: the longest first, so that workers that take whole files end together."""

from __future__ import annotations

#: files that take more than eight seconds of processor time, the longest first; a live run there waits most of its time
HEAVIEST = (
    "test_other_pythons.py", "test_lsp.py",
    "test_goldens.py", "test_report_html_browser.py", "test_scanner.py", "test_faults.py", "test_antelope_upgrade.py",
    "test_docs.py", "test_kept_builds.py", "test_reference_runs.py", "test_cometbft_article.py", "test_portions.py",
    "test_sql_limits.py", "test_errors_specs.py", "test_quality.py", "test_same_bytes.py", "test_explain.py",
    "test_trace_articles.py", "test_verify.py", "test_new_metric.py", "test_cases.py", "test_odd_bytes.py",
    "test_blocks.py",
    "test_antelope_harness.py", "test_diff.py", "test_damaged_caches.py", "test_examples.py", "test_trace.py",
    "test_report_pdf.py", "test_samples.py", "test_counters_fall.py", "test_company.py", "test_phases.py",
    "test_confined_files.py", "test_cometbft.py", "test_remote.py", "test_article_verdicts.py", "test_oracle.py",
    "test_properties.py", "test_report_html.py", "test_trace_everything.py", "test_corrupted_lines.py",
    "test_text_order.py", "test_cometbft_bad_inputs.py", "test_packaging.py", "test_lineage.py", "test_watching.py",
    "test_csv.py", "test_slots_fit.py", "test_row_order.py", "test_sql_alone.py",
    "test_author.py", "test_invalid_text.py", "test_regenerate.py", "test_cometbft_article_errors.py",
    "test_outputs.py", "test_report_charts.py", "test_text_lines.py",
)  # fmt: skip
_PLACES = {name: place for place, name in enumerate(HEAVIEST)}


def heaviest_first(file: str) -> int:
    """Where a file stands: as listed, then all others as they come."""
    return _PLACES.get(file, len(HEAVIEST))
