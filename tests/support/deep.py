"""Families of cases of which a sample runs by default, since each costs seconds; `just deep` runs all of them.

A family is a test with parameters, all tests of a file, or the cases of a fixture. One in so many of it runs, counted
in the order in which they are collected. Where the count begins depends on the files that are committed: the same
commit runs the same cases wherever it is tested, and what changes runs others, so that in a few commits all have run.
"""

from __future__ import annotations

import functools
import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

#: the number at which the count begins; without it, that of the commit
VARIABLE = "ASSAY_SAMPLE"
TURNS = 60  # has all the numbers below as divisors

#: test -> one in how many of its cases runs by default
SAMPLED = {
    "test_regenerate.py::test_the_text_of_the_pdf_holds_everything_in_order": 10,
    "test_regenerate.py::test_every_cell_is_that_of_the_publication": 6,
    "test_docs.py::test_the_examples_of_a_section_work": 10,
    "test_regenerate_errors.py::test_a_check_finds_an_edition_with": 6,
    "test_history_errors.py::test_a_check_finds_a_history_with": 6,
    "test_errors_specs.py::test_a_slip_in_the_specs_is_told_with_its_place": 6,
    "test_errors_specs.py::test_a_check_finds_what_no_type_tells": 4,
    "test_errors_lines.py::test_a_slip_says_where_it_is": 6,
    "test_formulas_errors.py::test_a_slip_is_told_with_its_place_and_what_was_expected": 6,
    "test_errors.py::test_a_run_that_cannot_be_analysed_is_refused": 3,
    "test_oracle.py::test_the_oracle_agrees_with_the_incumbent": 4,
    "test_report_html_browser.py::test_a_printed_page_has_all_cells_and_figures": 2,
    "test_events_of_runs.py::test_events_are_those_of_plain_python": 3,
    "test_odd_bytes.py::test_giant_line_takes_bounded_memory": 3,
    "test_properties.py::test_density_and_utxo_size_of_a_slot": 2,
    "test_series.py::test_gauges_are_what_the_server_answered": 2,
    "test_goldens.py::test_changed_sql_is_shown_as_a_diff_and_accepted_again": 4,
    "test_goldens.py::test_a_package_is_the_same_in_every_process": 2,
    "test_same_bytes.py::test_the_number_of_threads_does_not_change_a_byte": 2,
    "test_same_bytes.py::test_a_second_build_in_one_process_gives_the_same_bytes": 4,
    "test_explain.py::test_the_lines_shown_give_the_largest_samples": 4,
    "test_trace_everything.py::test_cells_lead_to_samples": 6,
    "test_increments.py::test_a_large_file_is_read_in_pieces_and_nothing_tells": 10,
    "test_increments.py::test_a_large_packed_file_that_is_left_over_is_read_in_pieces_as_well": 4,
    "test_slots_fit.py::test_no_reference_run_is_warned_of": 6,
    "test_counters_fall.py::test_reference_runs_warn_of_falling_counters": 6,
    "test_sql_alone.py::test_it_yields_what_query_says_for_every_metric": 12,
    "test_antelope_upgrade.py::test_a_live_run_shows_that_a_private_mapping_spares_the_drive": 4,
    "test_errors_places.py::test_a_slip_is_told_once_and_where_it_is": 5,
    "test_blocks.py::test_long_block_is_broken_alone": 10,
    "test_events_of_runs.py::test_counts_are_those_of_plain_python": 2,
    "test_numbers.py::test_a_text_is_the_number_that_plain_python_says": 3,
    "test_seals.py::test_what_is_damaged_is_made_again": 4,
    "test_damaged_caches.py::test_command_after_damage_yields_the_same": 60,
    "test_definitions_edited.py::test_an_edit_changes_the_hashes_of_what_it_changes": 6,
    "test_noninterference.py::test_what_lineage_does_not_name_changes_no_number": 12,
    "test_noninterference.py::test_what_makes_values_changes_numbers": 4,
    "test_scanner.py::test_strange_values_come_to_the_same": 3,
    "test_scanner.py::test_lines_that_are_alike_come_to_the_same": 4,
    "test_scanner.py::test_broken_bytes_come_to_the_same": 4,
    "test_scanner.py::test_logs_of_real_nodes_come_to_the_same": 2,
    "test_scanner.py::test_files_of_which_too_much_would_be_held_are_read_later": 4,
    "test_sql_limits.py::test_statement_that_exceeds_its_limits_ends_the_command": 3,
    "test_confined_files.py::test_a_normal_form_of_nothing_is_as_if_it_were_not_there": 5,
    "test_check_titles.py::test_what_would_be_printed_as_it_stands_is_an_error": 3,
    "test_company.py::test_a_number_is_the_same_in_any_company": 3,
    "test_cases.py::test_files_yield_recorded_result": 3,
    "test_order_of_rows.py::test_rows_have_one_order_for_every_reader": 4,
    "test_antelope_harness.py::test_windows_of_the_real_log_are_those_of_the_harness": 5,
    "test_article_verdicts.py::test_a_change_is_judged_exactly_and_seen_to_be_on_its_side": 3,
    "test_packaging.py::test_a_report_is_the_same_however_its_run_is_packaged": 4,
    "test_packaging.py::test_records_come_to_the_same_however_they_are_packaged": 3,
    "test_portions.py::test_results_are_those_of_all_hosts_at_once": 3,
    "test_portions.py::test_tables_of_some_hosts_at_a_time_are_those_of_all": 3,
    "test_row_order.py::test_rows_may_stand_in_any_order": 3,
    "test_sql_reads.py::test_the_rows_of_a_query_are_the_same_when_only_what_it_reads_is_there": 3,
    "test_slots_fit.py::test_slots_that_most_checks_do_not_lie_in_are_an_error": 4,
    "test_side_by_side.py::test_results_are_those_of_one_after_the_other": 3,
}
#: file -> one in how many of its tests runs by default, of those that are not listed above
SAMPLED_FILES = {
    "test_verify.py": 10,
    "test_report_html_browser.py": 10,
    "test_same_bytes.py": 6,
    "test_new_metric.py": 5,
    "test_properties.py": 6,
    "test_history_errors.py": 4,
    "test_regenerate_errors.py": 4,
    "test_outputs.py": 6,
    "test_errors_builds.py": 6,
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
    "test_kept_builds.py": 5,
    "test_report_pdf.py": 3,
    "test_report_html.py": 2,
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
    "test_cometbft_bad_inputs.py": 2,
    "test_own_columns.py": 2,
    "test_series_ends.py": 2,
    "test_several_targets.py": 2,
    "test_article_windows.py": 2,
    "test_article_verdicts.py": 2,
    "test_fallbacks.py": 2,
    "test_streams.py": 3,
    "test_trace_everything.py": 2,
    "test_trace.py": 2,
}
#: file -> a fixture, and one in how many of its cases runs by default; all tests of a case run, or none
SAMPLED_CASES = {
    "test_regenerate.py": ("made", 2),
}


def is_deep() -> bool:
    """Whether all is to run."""
    return bool(os.environ.get("ASSAY_DEEP"))


def examples(number: int) -> int:
    """How many random examples a property is tried with: all of them in a deep run, else a third."""
    return number if is_deep() else number // 3


@functools.cache
def turn() -> int:
    """Where the count begins: as the environment says, else by the committed files; 0 where there is no git."""
    if said := os.environ.get(VARIABLE):
        return int(said) % TURNS
    command = ["git", "rev-parse", "HEAD^{tree}"]
    try:
        done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(done.stdout, 16) % TURNS


def left_out(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The cases that do not run by default."""
    seen: Counter[str] = Counter()
    found = []
    for item in items:
        family, every = _family(item.path.name, item.name.partition("[")[0])
        if (seen[family] + turn()) % every or _is_of_case_left_out(item):
            found.append(item)
        seen[family] += 1
    return found


def _is_of_case_left_out(item: pytest.Item) -> bool:
    fixture, every = SAMPLED_CASES.get(item.path.name, ("", 1))
    cases = item.callspec.indices if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return fixture in cases and (cases[fixture] + turn()) % every != 0


def _family(file: str, test: str) -> tuple[str, int]:
    """The family that a test is of, and one in how many of it runs."""
    if f"{file}::{test}" in SAMPLED:
        return f"{file}::{test}", SAMPLED[f"{file}::{test}"]
    return (file, SAMPLED_FILES[file]) if file in SAMPLED_FILES else (f"{file}::{test}", 1)
