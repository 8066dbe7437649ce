"""Order test files by their duration, so that workers that take whole files end together."""

from __future__ import annotations

#: files that take more than eight seconds of processor time, the longest first; a live run mostly waits
HEAVIEST = (
    "test_other_pythons.py", "test_lsp.py", "test_goldens.py", "test_html_browser.py", "test_scanner.py",
    "test_faults.py", "test_antelope_upgrade.py", "test_docs.py", "test_reference_runs.py",
    "test_cometbft_article.py", "test_portions.py", "test_limit.py", "test_errors.py", "test_quality.py",
    "test_same_bytes.py", "test_explain.py", "test_trace_articles.py", "test_verify.py", "test_new_metric.py",
    "test_antelope_harness.py", "test_diff.py", "test_damaged_caches.py", "test_examples.py", "test_trace.py",
    "test_pdf.py", "test_counters_fall.py", "test_phases.py", "test_build_cache.py", "test_cases.py",
    "test_odd_bytes.py", "test_blocks.py", "test_independence.py", "test_confined_files.py", "test_cometbft.py",
    "test_remote.py", "test_article_verdicts.py", "test_oracle.py", "test_properties.py", "test_html.py",
    "test_trace_everything.py", "test_text_order.py", "test_bad_samples.py", "test_packaging.py", "test_lineage.py",
    "test_watching.py", "test_slots_fit.py", "test_row_order.py", "test_printed_sql.py", "test_author.py",
    "test_regenerate.py", "test_outputs.py", "test_charts.py", "test_samples.py", "test_corrupted_lines.py",
    "test_csv.py", "test_invalid_text.py", "test_text_lines.py", "test_false_alarms.py",
    "test_registry_site.py", "test_live_report.py", "test_refused_requests.py",
)  # fmt: skip
_RANKS = {name: rank for rank, name in enumerate(HEAVIEST)}


def rank_file(file: str) -> int:
    """Return the rank of a file: as listed, then all others."""
    return _RANKS.get(file, len(HEAVIEST))
