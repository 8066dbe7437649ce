"""Define `assay cache`: show the size of the cache, and shrink it."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from pathlib import Path

import click

from assay.cli import output
from assay.cli.groups import StrictGroup
from assay.cli.options import add_table_option
from assay.engine.pruning import Entry, Limits, list_entries, measure_size, measure_uses, select_surplus
from assay.engine.pruning import prune as remove
from assay.engine.result_cache import get_default_folder
from assay.remote.cache_location import locate_cache
from assay.util.diagnostics import USAGE, fail

DURATION = re.compile(r"([0-9]{1,6})(m|h|d|w)")
SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?) ?(kB|MB|GB|TB|KiB|MiB|GiB|TiB|B)")
BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
         "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}  # fmt: skip


def _add_folder_option(command: click.decorators.FC) -> click.decorators.FC:
    return click.option("--cache", "folder", metavar="DIR", help="Cache folder.")(command)


def _get_cache_folder(context: click.Context, folder: str | None) -> Path:

    return locate_cache(folder or context.obj["cache"] or get_default_folder())[0]


@click.group(cls=StrictGroup, invoke_without_command=True)
@_add_folder_option
@add_table_option
@click.pass_context
def cache(context: click.Context, folder: str | None, form: str) -> None:
    """Show the size of the cache; `prune` shrinks it.

    The cache holds only what can be recomputed: ingested logs, results of metrics, rendered reports, evaluated specs,
    copies of remote runs.
    """
    if folder:
        context.obj["cache"] = folder
    if context.invoked_subcommand:
        return

    place = _get_cache_folder(context, folder)
    all_entries = list_entries(place)
    rows = [
        [use.kind, str(use.entries), str(use.size), _format_instant(use.last_used)] for use in measure_uses(all_entries)
    ]
    rows.append(
        [
            "all",
            str(len(all_entries)),
            str(measure_size(all_entries)),
            _format_instant(max((item.last_used for item in all_entries), default=None)),
        ]
    )
    if form == "table":
        output.print_line(place)
        rows = [
            [kind, number, _format_size(int(byte_count)), last_used] for kind, number, byte_count, last_used in rows
        ]
    output.print_rows(["kind", "entries", "size" if form == "table" else "bytes", "last used"], rows, form)


@cache.command()
@_add_folder_option
@click.option("--older-than", metavar="TIME", help="Remove entries not used for this long, such as 12h, 30d or 8w.")
@click.option(
    "--to-size", metavar="SIZE", help="Remove least recently used entries down to this size, such as 5GB or 500MiB."
)
@click.option("--all", "everything", is_flag=True, help="Remove all entries.")
@click.option("--dry-run", is_flag=True, help="Print what would be removed, without removing it.")
@click.pass_context
def prune(
    context: click.Context,
    folder: str | None,
    older_than: str | None,
    to_size: str | None,
    everything: bool,
    dry_run: bool,
) -> None:
    """Shrink the cache; removed entries are computed again when needed."""

    limits = _create_limits(older_than, to_size, everything)
    place = _get_cache_folder(context, folder)
    if dry_run or not place.is_dir():
        print_pruned("would remove" if dry_run else "removed", select_surplus(list_entries(place), limits))
        return
    wait_message = f"waiting for other assay commands that work with {place}"
    removed_entries = remove(
        place, lambda current: select_surplus(current, limits), lambda: output.print_line(wait_message, err=True)
    )
    print_pruned("removed", removed_entries)


def _create_limits(older_than: str | None, to_size: str | None, remove_all: bool) -> Limits:

    if not (older_than or to_size or remove_all):
        hint = "pass --older-than 30d, --to-size 5GB, or --all"
        raise fail("prune", "no option selects the entries to remove", hint=hint, status=USAGE)
    if remove_all and (older_than or to_size):
        other = "--older-than" if older_than else "--to-size"
        raise fail("prune", f"--all and {other} exclude each other", hint="pass one of them", status=USAGE)
    if remove_all:
        return Limits(size=0)
    age = DURATION.fullmatch(older_than or "")
    if older_than and not age:
        raise fail(
            "prune",
            f"invalid time `{older_than}` of --older-than",
            expected="a number with m, h, d or w, as in 30d",
            status=USAGE,
        )
    size = SIZE.fullmatch(to_size or "")
    if to_size and not size:
        raise fail(
            "prune",
            f"invalid size `{to_size}` of --to-size",
            expected="a number with its unit, as in 5GB or 500MiB",
            status=USAGE,
        )
    since = time.time() - int(age[1]) * SECONDS[age[2]] if age else None
    return Limits(since, int(float(size[1]) * BYTES[size[2]]) if size else None)


def print_pruned(verb: str, removed_entries: tuple[Entry, ...]) -> None:
    """Print the number and size of pruned entries."""

    output.print_line(
        f"{verb} {len(removed_entries)} {'entry' if len(removed_entries) == 1 else 'entries'}, "
        f"{_format_size(measure_size(removed_entries))}"
    )


def _format_size(byte_count: int) -> str:
    """Format a number of bytes with three digits."""
    value = float(byte_count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            return f"{byte_count} B" if unit == "B" else f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} TB"


def _format_instant(use_time: float | None) -> str:
    return "" if use_time is None else f"{datetime.fromtimestamp(use_time, UTC):%Y-%m-%d %H:%M:%S}Z"
