"""Families of cases that run as a sample by default, because each case costs seconds; `just deep` runs all of them.

A family is a test with parameters, all tests of a file, or the cases of a fixture. Every n-th case of it runs, in the
order of collection. The first one depends on the committed files: the same commit runs the same cases on every machine,
and a change selects others, so that after a few commits all have run.
"""

from __future__ import annotations

import functools
import os
import subprocess
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

#: environment variable with the start of the count; its default depends on the commit
VARIABLE = "ASSAY_SAMPLE"
TURNS = 60  # a multiple of all rates
#: seconds of processor time that a test may cost by default; one that costs n times as much runs in every n-th turn
BUDGET = 0.2
RATES = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60)  # of costly tests
COSTS = Path(__file__).parents[1] / "costs.txt"
#: files whose own fixtures are costly: all of their tests run in every n-th turn
COSTLY_FILES = {
    "test_activity.py": 4,
    "test_bad_samples.py": 3,
    "test_block_listings.py": 3,
    "test_build_cache.py": 3,
    "test_by_host.py": 4,
    "test_cluster_stages.py": 3,
    "test_cometbft_article.py": 3,
    "test_damaged_caches.py": 3,
    "test_demo_answer.py": 3,
    "test_details.py": 3,
    "test_drafted_observations.py": 3,
    "test_false_alarms.py": 4,
    "test_foreign_files.py": 3,
    "test_history.py": 3,
    "test_html_browser.py": 3,
    "test_judged_comparison.py": 2,
    "test_metric_details.py": 2,
    "test_new_metric.py": 3,
    "test_page_controls.py": 3,
    "test_percentile_columns.py": 3,
    "test_point_files.py": 4,
    "test_reference_runs.py": 3,
    "test_regenerate.py": 2,
    "test_seals.py": 3,
    "test_shifts_within_baselines.py": 3,
    "test_words.py": 2,
}

#: test -> n: every n-th case runs by default
SAMPLED = {
    "test_corpus.py::test_kind_has_its_recorded_score": 30,
    "test_faults_in_stages.py::test_build_survives_a_failure": 30,
    "test_faults_in_stages.py::test_task_that_runs_twice_changes_nothing": 2,
    "test_errors.py::test_slip_gets_its_message": 6,
    "test_html_browser.py::test_a_printed_page_has_all_cells_and_figures": 2,
    "test_series.py::test_gauges_are_those_of_the_server": 2,
    "test_explain.py::test_printed_lines_give_the_largest_samples": 4,
    "test_transcripts.py::test_commands_print_their_transcript": 4,
    "test_diff_edits.py::test_diff_of_edits_equals_its_transcript": 6,
    "test_regenerate.py::test_pdf_text_has_everything_in_order": 10,
    "test_regenerate.py::test_every_cell_equals_the_publication": 6,
    "test_docs.py::test_examples_of_a_section_work": 20,
    "test_oracle.py::test_oracle_agrees_with_the_incumbent": 4,
    "test_properties.py::test_density_and_utxo_size_of_slot_equal_the_oracle": 2,
    "test_events_of_runs.py::test_events_are_those_of_plain_python": 3,
    "test_odd_bytes.py::test_giant_line_takes_bounded_memory": 3,
    "test_goldens.py::test_changed_sql_is_shown_as_a_diff_and_accepted": 4,
    "test_goldens.py::test_package_is_the_same_in_every_process": 2,
    "test_same_bytes.py::test_number_of_threads_changes_no_byte": 2,
    "test_same_bytes.py::test_second_build_in_process_gives_same_bytes": 4,
    "test_trace_everything.py::test_cells_lead_to_samples": 6,
    "test_increments.py::test_large_file_in_pieces_gives_same_result": 10,
    "test_increments.py::test_large_packed_file_in_pieces_gives_same_result": 4,
    "test_slots_fit.py::test_reference_runs_cause_no_warning": 6,
    "test_printed_sql.py::test_printed_sql_yields_the_values_of_query": 12,
    "test_counters_fall.py::test_reference_runs_warn_of_falling_counters": 6,
    "test_antelope_upgrade.py::test_live_run_with_private_mapping_writes_less": 4,
    "test_numbers.py::test_text_becomes_number_of_plain_python": 3,
    "test_seals.py::test_damaged_entries_are_computed_again": 4,
    "test_blocks.py::test_long_block_is_broken_alone": 10,
    "test_events_of_runs.py::test_counts_are_those_of_plain_python": 2,
    "test_damaged_caches.py::test_command_after_damage_yields_the_same": 60,
    "test_limit.py::test_statement_that_exceeds_its_limits_ends_the_command": 3,
    "test_cases.py::test_files_yield_recorded_result": 10,
    "test_order_of_rows.py::test_rows_have_one_order_for_every_reader": 4,
    "test_row_order.py::test_results_do_not_depend_on_the_order_of_rows": 3,
    "test_sql_dependencies.py::test_query_yields_the_same_rows_of_what_it_reads": 3,
    "test_definitions_edited.py::test_edit_changes_hashes_of_affected_metrics_only": 6,
    "test_noninterference.py::test_fields_outside_lineage_change_no_number": 12,
    "test_noninterference.py::test_fields_in_lineage_change_numbers": 4,
    "test_scanner.py::test_strange_values_give_same_rows": 3,
    "test_scanner.py::test_similar_lines_give_same_rows": 4,
    "test_scanner.py::test_broken_bytes_give_same_rows": 4,
    "test_scanner.py::test_logs_of_real_nodes_give_same_rows": 2,
    "test_scanner.py::test_files_beyond_memory_limit_are_read_later": 4,
    "test_confined_files.py::test_empty_normal_form_is_ignored": 5,
    "test_independence.py::test_number_is_independent_of_other_metrics": 3,
    "test_antelope_harness.py::test_windows_of_real_log_equal_the_harness": 5,
    "test_abilities.py::test_report_does_what_the_table_says": 12,
    "test_article_verdicts.py::test_change_is_judged_exactly_and_printed_on_its_side": 3,
    "test_packaging.py::test_report_is_the_same_for_any_packaging_of_run": 4,
    "test_packaging.py::test_records_are_the_same_in_any_packaging": 3,
    "test_portions.py::test_results_by_portion_equal_results_at_once": 3,
    "test_portions.py::test_tables_by_portion_equal_whole_tables": 3,
    "test_slots_fit.py::test_most_checks_outside_their_slots_are_an_error": 4,
    "test_block_listings.py::test_each_block_is_analysed_or_rejected": 3,
    "test_activity.py::test_each_slot_of_each_host_equals_the_oracle": 3,
    "test_cluster_stages.py::test_stages_build_the_bytes_of_one_machine": 2,
    "test_style_limits.py::test_report_names_changes_lost_in_rounding": 3,
    "test_page_fill.py::test_only_the_last_page_may_be_half_empty": 3,
    "test_page_controls.py::test_tables_are_whole_on_a_phone": 3,
    "test_fallbacks.py::test_records_of_every_kind_count_as_use": 4,
    "test_cells.py::test_metrics_together_have_the_cells_of_each": 3,
    "test_executor.py::test_parallel_results_equal_sequential_ones": 3,
}
#: file -> n: every n-th test runs by default, apart from tests listed above
SAMPLED_FILES = {
    "test_cookbook.py": 4,
    "test_object_storage.py": 10,
    "test_verify.py": 10,
    "test_html_browser.py": 10,
    "test_same_bytes.py": 6,
    "test_new_metric.py": 5,
    "test_properties.py": 6,
    "test_history_builds.py": 4,
    "test_histories_of_builds.py": 3,
    "test_regenerated_reports.py": 4,
    "test_outputs.py": 6,
    "test_build_failures.py": 6,
    "test_diff.py": 6,
    "test_claims.py": 5,
    "test_examples.py": 4,
    "test_phases.py": 6,
    "test_catalogue.py": 6,
    "test_cometbft_article.py": 4,
    "test_antelope_upgrade.py": 4,
    "test_trace_articles.py": 6,
    "test_watching.py": 6,
    "test_lineage.py": 3,
    "test_explain.py": 4,
    "test_cometbft.py": 3,
    "test_fetch.py": 3,
    "test_remote.py": 3,
    "test_samples.py": 3,
    "test_blocks.py": 2,
    "test_cache.py": 2,
    "test_increments.py": 2,
    "test_diff_reports.py": 2,
    "test_pdf.py": 3,
    "test_html.py": 2,
    "test_build_cache.py": 5,
    "test_odd_bytes.py": 2,
    "test_run_files.py": 2,
    "test_json_lines.py": 2,
    "test_json_records.py": 2,
    "test_csv.py": 2,
    "test_text_lines.py": 2,
    "test_changing_files.py": 2,
    "test_invalid_text.py": 3,
    "test_unended.py": 3,
    "test_cases_facts.py": 4,
    "test_cases_names.py": 3,
    "test_bad_samples.py": 2,
    "test_own_columns.py": 2,
    "test_series_ends.py": 2,
    "test_several_targets.py": 2,
    "test_article_windows.py": 2,
    "test_article_verdicts.py": 2,
    "test_fallbacks.py": 2,
    "test_streams.py": 3,
    "test_proposals.py": 5,
    "test_proposed_runs.py": 3,
    "test_reference_runs.py": 5,
    "test_ci_jobs.py": 3,
    "test_false_alarms.py": 2,
    "test_limit.py": 2,
    "test_gate_forms.py": 3,
    "test_answer_browser.py": 2,
    "test_folder_queue.py": 3,
    "test_testnets.py": 3,
    "test_built_observations.py": 3,
    "test_quoted_series.py": 3,
    "test_upgrade_from_records.py": 3,
    "test_filter_files.py": 3,
    "test_cluster_faults.py": 4,
    "test_page_controls.py": 2,
    "test_registry_site.py": 3,
    "test_point_files.py": 2,
    "test_by_host.py": 2,
    "test_metric_details.py": 2,
    "test_faults.py": 2,
    "test_stills.py": 2,
    "test_dimensions.py": 2,
    "test_workloads.py": 2,
    "test_judged_comparison.py": 2,
    "test_trace_everything.py": 2,
    "test_trace.py": 2,
}
#: file -> a fixture and n: every n-th case of it runs by default, with all its tests
SAMPLED_CASES = {
    "test_regenerate.py": ("regenerated", 2),
}


def is_deep() -> bool:
    """Return whether all cases run."""
    return bool(os.environ.get("ASSAY_DEEP"))


def scale_examples(number: int) -> int:
    """Return the number of random examples: all in a deep run, else a third."""
    return number if is_deep() else number // 3


@functools.cache
def get_turn() -> int:
    """Return the start of the count: set by the environment, else by the committed files; 0 without git."""
    if number := os.environ.get(VARIABLE):
        return int(number) % TURNS**2
    command = ["git", "rev-parse", "HEAD^{tree}"]
    try:
        result = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(result.stdout, 16) % TURNS**2


@functools.cache
def read_rates() -> dict[str, int]:
    """Return how rarely costly tests run: `FILE::TEST` in every n-th turn."""
    lines = (line.split() for line in COSTS.read_text(encoding="utf-8").splitlines())
    return {name: next((n for n in RATES if n >= float(seconds) / BUDGET), RATES[-1]) for seconds, name in lines}


def _is_left_out(item: pytest.Item) -> bool:
    """Return whether a costly test does not run in this turn, which is independent of that of families."""
    file, test = item.path.name, item.name.partition("[")[0]
    rates = (file, COSTLY_FILES.get(file, 1)), (f"{file}::{item.name}", read_rates().get(f"{file}::{test}", 1))
    return any((zlib.crc32(name.encode()) + get_turn() // TURNS) % rate for name, rate in rates)


ALWAYS = "[README.md:"  # begin of the names of cases that always run: the first page must be right


def list_skipped(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the cases that do not run by default."""
    counts: Counter[str] = Counter()
    skipped = []
    for item in items:
        family, every = _find_family(item.path.name, item.name.partition("[")[0])
        is_other_case = (counts[family] + get_turn()) % every != 0 or _is_left_out(item)
        if (is_other_case and ALWAYS not in item.name) or _is_skipped_case(item):
            skipped.append(item)
        counts[family] += 1
    return skipped


def _is_skipped_case(item: pytest.Item) -> bool:
    fixture, every = SAMPLED_CASES.get(item.path.name, ("", 1))
    cases = item.callspec.indices if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return fixture in cases and (cases[fixture] + get_turn()) % every != 0


def _find_family(file: str, test: str) -> tuple[str, int]:
    """Return the family of a test and its sampling rate."""
    if f"{file}::{test}" in SAMPLED:
        return f"{file}::{test}", SAMPLED[f"{file}::{test}"]
    return (file, SAMPLED_FILES[file]) if file in SAMPLED_FILES else (f"{file}::{test}", 1)
