"""Build, register, record and gate each run that appears in a folder, once (`assay watch-runs`).

Each run has an outcome, a file in the folder `.outcomes` beside its build, written when all but the notification is
done. A stop before that repeats steps that are the same when repeated: the build, the registration, the record of its
results, the gate. A stop after it repeats at most the notification. So no run is done twice, and none is half done.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.app.build.build import build_report
from assay.app.build.new_runs import NewRun, WatchedPlace
from assay.app.compare.compare_results import judge_build
from assay.app.compare.gate import is_open, list_all_gated, require_decision
from assay.app.compare.gate_texts import summarize_gate
from assay.app.compare.register_run import register_run
from assay.app.session.options import Options
from assay.app.session.session import Session
from assay.registry.baseline import MedianBaseline
from assay.registry.model import Registration, quote_name
from assay.registry.store import record_build
from assay.remote.webhook import Webhook
from assay.util.atomic import replace_durably
from assay.util.diagnostics import AssayError, fail
from assay.util.locks import acquire_lock
from assay.util.os_errors import build_write_error

WORSE, PASSES, UNDECIDED, FAILED = "worse", "passes", "undecided", "failed"
#: codes of errors that are no fault of the run: it is done again with the next look
EXTERNAL_CODES = ("cache", "disk-full", "file", "output", "no-server", "run-refused", "run-changing")
_MEMBERS = ("metric", "name", "unit", "base", "value", "percent", "low", "high", "margin", "p")
_MOST_OUTPUT = 300  # characters of a command's output in a message


@dataclass(frozen=True, slots=True)
class WatchRules:
    """What to do with each new run: where it appears, what is built where, what it is compared with, whom to notify.

    `notified` are the states that are worth a notification: by `command`, which reads the outcome, or by `webhook`.
    """

    place: WatchedPlace
    report: str
    out: Path
    results: Path
    baseline: MedianBaseline
    tags: Sequence[str] = ()
    forms: Sequence[str] = ()
    command: str = ""
    webhook: Webhook | None = None
    notified: Sequence[str] = (WORSE,)

    @property
    def outcomes(self) -> Path:
        """The folder of the outcomes; no build has its name, which begins with a dot."""
        return self.out / ".outcomes"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: the document of its notification, and whether that is still to be sent."""

    document: dict[str, Any]
    fingerprint: str
    is_due: bool = False
    problems: tuple[AssayError, ...] = field(default=())

    @property
    def state(self) -> str:
        """`worse`, `passes`, `undecided` or `failed`."""
        return str(self.document["state"])


def watch_once(session: Session, rules: WatchRules, notice: Callable[[str], None]) -> Iterator[Outcome]:
    """Do each complete run that is not done, and yield its outcome; also one whose notification failed before.

    `notice` is called with a text if another process watches. Raises AssayError, as for wrong specs.
    """
    session.find_report_of_runs(rules.report)
    try:
        with acquire_lock(rules.outcomes, lambda: notice(f"waiting for another process that watches into {rules.out}")):
            for run in rules.place.list_complete():
                former = _read_outcome(rules, run)
                is_done = former and (former.state != FAILED or former.fingerprint == run.fingerprint)
                if former and is_done and not former.is_due:
                    continue
                outcome = former if former and is_done else _do_run(session, rules, run)
                yield _notify(rules, run, outcome)
    except OSError as error:
        raise build_write_error("output", "folder", rules.out, error, "choose another folder with -o") from None


def _locate_outcome(rules: WatchRules, run: NewRun) -> Path:
    return rules.outcomes / f"{quote_name(run.name)}.json"


def _read_outcome(rules: WatchRules, run: NewRun) -> Outcome | None:
    """Return the outcome of a run; None for one that is not done. Raises AssayError for a file that is damaged."""
    path = _locate_outcome(rules, run)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Outcome(content["outcome"], content["fingerprint"], content["is_due"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise fail("outcome", f"the file is no outcome of a run: {path}",
                   hint="remove it: the run is then done again") from None  # fmt: skip


def _write_outcome(rules: WatchRules, run: NewRun, outcome: Outcome) -> None:
    content = {"outcome": outcome.document, "fingerprint": outcome.fingerprint, "is_due": outcome.is_due}
    path = _locate_outcome(rules, run)
    temporary = path.with_name(f".{path.name}.new")  # one process writes at a time
    temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    replace_durably(temporary, path)


def _do_run(session: Session, rules: WatchRules, run: NewRun) -> Outcome:
    """Build, register, record and gate a run, and write its outcome. Raises AssayError for external causes."""
    folder = rules.out / quote_name(run.name)
    document: dict[str, Any] = {
        "format": 1, "run": run.name, "place": run.place, "report": rules.report, "baseline": str(rules.baseline),
        "build": str(folder), "time": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
    }  # fmt: skip
    problems: tuple[AssayError, ...] = ()
    try:
        build_report(session, rules.report, [f"{run.name}={run.place}"], folder, Options(forms=tuple(rules.forms)))
        register_run(rules.results, Registration((run.place,), run.name, rules.tags))
        record_build(rules.results, folder)
        document |= _gate(session, rules, folder)
    except AssayError as error:
        if any(item.code in EXTERNAL_CODES for item in error.diagnostics):
            raise
        problems = (error,)
        document |= {"state": FAILED, "message": error.diagnostics[0].message, "worse": []}
    outcome = Outcome(document, run.fingerprint, document["state"] in rules.notified, problems)
    _write_outcome(rules, run, outcome)
    return outcome


def _gate(session: Session, rules: WatchRules, build: Path) -> dict[str, Any]:
    """Return the state of a build against earlier runs, a sentence, and the metrics that are worse."""
    try:
        judged = judge_build(session, rules.results, build, rules.baseline)
        require_decision(judged)
    except AssayError as error:
        if error.diagnostics[0].code in EXTERNAL_CODES:
            raise
        item = error.diagnostics[0]
        cause = f" ({item.found})" if item.found else ""
        return {"state": UNDECIDED, "message": f"{item.message}{cause}", "worse": []}
    gated = list_all_gated(judged)
    worse = [{name: getattr(item, name) for name in _MEMBERS} for item in gated if item.is_closing]
    return {"state": PASSES if is_open(judged) else WORSE, "message": summarize_gate(gated), "worse": worse}


def _notify(rules: WatchRules, run: NewRun, outcome: Outcome) -> Outcome:
    """Send the outcome of a run if that is due; if it fails, it stays due, and the problem is part of the outcome."""
    if not outcome.is_due:
        return outcome
    content = json.dumps(outcome.document).encode()
    try:
        if rules.webhook:
            rules.webhook.post(content)
        if rules.command:
            _call(rules.command, content)
    except AssayError as error:
        return replace(outcome, problems=(*outcome.problems, error))
    outcome = replace(outcome, is_due=False)
    _write_outcome(rules, run, outcome)
    return outcome


def _call(command: str, content: bytes) -> None:
    """Run a command by the shell, with a document on its stdin. Raises AssayError if it fails."""
    process = subprocess.run(
        command, shell=True, check=False, input=content, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )  # fmt: skip
    if process.returncode:
        text = process.stdout.decode(errors="replace").strip()[-_MOST_OUTPUT:]
        raise fail("command", f"the command ended with status {process.returncode}: {command}", found=text,
                   hint="it is called again with the next look at the folder")  # fmt: skip
