"""Write notes on level shifts and drifts: accept, annotate or reopen one (`assay shifts`, `assay serve`)."""

from __future__ import annotations

import getpass
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.app.compare.metric_history import find_history
from assay.app.compare.shift_details import get_begin, list_changes
from assay.app.session.session import Session
from assay.registry.history import HistoryChange, HistoryScope, MetricHistory, Shift
from assay.registry.model import ShiftNoteFile
from assay.registry.shift_notes import ACCEPT, ANNOTATE, DRIFT, LEVEL_SHIFT, REOPEN
from assay.registry.store import append_note, read_registry
from assay.util.diagnostics import USAGE, fail
from assay.util.git import run_git

KINDS = (ACCEPT, ANNOTATE, REOPEN)
MOST_LETTERS = {"author": 200, "reason": 2000}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class NoteRequest:
    """A note to write: what to do with which change, who does it, and why.

    `run` is the run at which the change begins, empty for the latest. The metric may be an id or a name.
    """

    kind: str
    metric: str
    run: str
    author: str
    reason: str
    system: str = ""


def note_shift(session: Session, folder: Path, request: NoteRequest) -> Path:
    """Write a note on a level shift or drift of the whole history of a metric, and return its file.

    Raises AssayError (usage): an unknown metric, no such change, one that is accepted or open already, an empty text.
    """
    for member in MOST_LETTERS:
        _check_text(member, getattr(request, member))
    history = find_history(session, read_registry(folder), request.metric, HistoryScope(request.system))
    change = _choose_change(history, request.run)
    _check_state(request, history, change)
    begin = get_begin(change)
    content: dict[str, Any] = {
        "system": history.system,
        "metric": history.metric,
        "kind": request.kind,
        "change": LEVEL_SHIFT if isinstance(change, Shift) else DRIFT,
        "run": begin.run,
        "day": begin.day,
        "before": change.before,
        "after": change.after,
        "author": request.author.strip(),
        "reason": request.reason.strip(),
        "time": datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
    }
    return append_note(folder, ShiftNoteFile(**content))


def _check_text(member: str, text: str) -> None:
    most = MOST_LETTERS[member]
    if not text.strip() or len(text) > most or _CONTROL.search(text):
        actual = "nothing" if not text.strip() else f"{len(text)} characters" if len(text) > most else repr(text)
        raise fail("note-text", f"invalid {member} of a note", expected=f"one line of 1 to {most} characters",
                   found=actual, status=USAGE)  # fmt: skip


def _choose_change(history: MetricHistory, run: str) -> HistoryChange:
    changes = list_changes(history)
    if not changes:
        raise fail("no-shift", f"`{history.metric}` has no level shift and no drift",
                   hint=f"`assay history {history.metric}` prints its runs", status=USAGE)  # fmt: skip
    matching = [item for item in changes if run in ("", get_begin(item).run)]
    if not matching:
        raise fail("no-shift", f"no level shift or drift of `{history.metric}` begins at `{run}`",
                   expected=" or ".join(get_begin(item).run for item in changes), found=run, status=USAGE)  # fmt: skip
    return matching[-1]


def _check_state(request: NoteRequest, history: MetricHistory, change: HistoryChange) -> None:
    """Raise AssayError (usage) if a change is accepted or open already, as it should become."""
    is_accepted = change.acceptance is not None
    if request.kind != ANNOTATE and is_accepted == (request.kind == ACCEPT):
        place = f"the change of `{history.metric}` at `{get_begin(change).run}`"
        raise fail("shift-state", f"{place} is {'accepted' if is_accepted else 'open'} already",
                   hint=f"`assay shifts {ANNOTATE}` adds a remark", status=USAGE)  # fmt: skip


def find_author(of_settings: str) -> str:
    """Return who writes a note by default: the author of the settings, that of git, or the name of the user."""
    if of_settings:
        return of_settings
    of_git = (run_git(Path(), "config", "user.name") or b"").decode(errors="replace").strip()
    try:
        return of_git or getpass.getuser()
    except (OSError, KeyError):  # no name of the user is known: that the author is empty is an error
        return ""
