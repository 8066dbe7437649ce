"""`assay cache`: what the cache takes, and making it smaller."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import output
from assay.cli.groups import Clear
from assay.cli.options import table_option

if TYPE_CHECKING:
    from assay.engine.pruning import Entry, Limits

DURATION = re.compile(r"([0-9]{1,6})(m|h|d|w)")
SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?) ?(kB|MB|GB|TB|KiB|MiB|GiB|TiB|B)")
BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
         "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}  # fmt: skip


def _folder_option(command: click.decorators.FC) -> click.decorators.FC:
    return click.option("--cache", "folder", metavar="DIR", help="Cache folder.")(command)


def _place(context: click.Context, folder: str | None) -> Path:
    from assay.engine.result_cache import default_folder

    given = folder or context.obj["cache"]
    return Path(given) if given else default_folder()


@click.group(cls=Clear, invoke_without_command=True)
@_folder_option
@table_option
@click.pass_context
def cache(context: click.Context, folder: str | None, form: str) -> None:
    """Show the size of the cache; `prune` shrinks it.

    The cache holds only what can be made again: logs as Parquet, results of metrics, rendered reports, evaluated specs,
    copies of remote runs.
    """
    if folder:
        context.obj["cache"] = folder
    if context.invoked_subcommand:
        return
    from assay.engine.pruning import entries, size, uses

    place = _place(context, folder)
    found = entries(place)
    rows = [[use.kind, str(use.entries), str(use.size), _instant(use.used)] for use in uses(found)]
    rows.append(["all", str(len(found)), str(size(found)), _instant(max((item.used for item in found), default=None))])
    if form == "table":
        output.line(place)
        rows = [[kind, number, _size(int(taken)), when] for kind, number, taken, when in rows]
    output.rows(["kind", "entries", "size" if form == "table" else "bytes", "last used"], rows, form)


@cache.command()
@_folder_option
@click.option("--older-than", metavar="TIME", help="Remove entries that were not used for this time: 12h, 30d, 8w.")
@click.option("--to-size", metavar="SIZE", help="Remove least recently used entries down to this size: 5GB, 500MiB.")
@click.option("--all", "everything", is_flag=True, help="Remove everything.")
@click.option("--dry-run", is_flag=True, help="Only print what would be removed.")
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
    from assay.engine.pruning import entries, surplus
    from assay.engine.pruning import prune as remove

    limits = _limits(older_than, to_size, everything)
    place = _place(context, folder)
    if dry_run or not place.is_dir():
        print_pruned("would remove" if dry_run else "removed", surplus(entries(place), limits))
        return
    waiting = f"waiting for other assay commands that work with {place}"
    gone = remove(place, lambda found: surplus(found, limits), lambda: output.line(waiting, err=True))
    print_pruned("removed", gone)


def _limits(older_than: str | None, to_size: str | None, everything: bool) -> Limits:
    from assay.engine.pruning import Limits
    from assay.util.diagnostics import USAGE, fail

    if not (older_than or to_size or everything):
        hint = "say --older-than 30d, --to-size 5GB, or --all"
        raise fail("prune", "nothing is said of what is to go", hint=hint, status=USAGE)
    if everything and (older_than or to_size):
        other = "--older-than" if older_than else "--to-size"
        raise fail("prune", f"--all removes all of it, whatever {other} says", hint="say one of them", status=USAGE)
    if everything:
        return Limits(size=0)
    age = DURATION.fullmatch(older_than or "")
    if older_than and not age:
        raise fail(
            "prune", f"`{older_than}` is no time", expected="a number with m, h, d or w, as in 30d", status=USAGE
        )
    size = SIZE.fullmatch(to_size or "")
    if to_size and not size:
        raise fail(
            "prune", f"`{to_size}` is no size", expected="a number with its unit, as in 5GB or 500MiB", status=USAGE
        )
    since = time.time() - int(age[1]) * SECONDS[age[2]] if age else None
    return Limits(since, int(float(size[1]) * BYTES[size[2]]) if size else None)


def print_pruned(what: str, gone: tuple[Entry, ...]) -> None:
    from assay.engine.pruning import size

    output.line(f"{what} {len(gone)} {'entry' if len(gone) == 1 else 'entries'}, {_size(size(gone))}")


def _size(taken: int) -> str:
    """Bytes with three digits."""
    value = float(taken)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            return f"{taken} B" if unit == "B" else f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} TB"


def _instant(used: float | None) -> str:
    return "" if used is None else f"{datetime.fromtimestamp(used, UTC):%Y-%m-%d %H:%M:%S}Z"
