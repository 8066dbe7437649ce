"""Propose metrics of records that have an outcome: how many there are, and the share of them that failed."""

from __future__ import annotations

import re

from assay_propose.model import EventProposal, FieldProposal, MetricProposal
from assay_propose.names import NameSpace, join_names, split_words
from assay_propose.sources import Group
from assay_propose.titles import make_event_title

_STATUS_WORDS = frozenset(("code", "response", "status"))
_STATUS = re.compile(r"[1-5]\d\d")  # of HTTP
FIRST_FAILURE = 400  # the least status of a failure
_OUTCOME_WORDS = frozenset(("level", "outcome", "result", "severity", "state", "status"))
_FAILURE = re.compile(
    r"(?:abort(?:ed)?|crash(?:ed)?|err|error|exception|fail|failed|failure|fatal|n?ko|panic|refused|rejected"
    r"|timed?[ _-]?out|unavailable)",
    re.IGNORECASE,
)
_SUCCESS_WORDS, _FAILURE_WORDS = frozenset(("ok", "success", "successful", "succeeded")), frozenset(("error", "failed"))
_ERROR_WORDS = frozenset(("err", "error", "exception", "failure"))
_PARTS_OF_ERRORS = frozenset(("class", "kind", "message", "msg", "name", "reason", "text", "type"))
_NO_ERROR = re.compile(r"(?:|-|0|<nil>|false|nil|no error|none|null|ok|success)", re.IGNORECASE)
MIN_RECORDS = 5


def find_outcome(group: Group, event: EventProposal) -> FieldProposal | None:
    """Return the field of an event that says whether its records failed: a status of HTTP, a boolean, or a text."""
    if event.count < MIN_RECORDS or group.source.kind == "samples":  # of which none is a piece of work
        return None
    fields = [group.source.find_field(name) for name in event.fields]
    if group.known_format:  # others have metrics of failures, or none
        fields = [field for field in fields if field.path[-1] == group.known_format.outcome]
    return next((field for field in fields if describe_failure(group, event, field) is not None), None)


def describe_failure(group: Group, event: EventProposal, field: FieldProposal) -> str | None:
    """Return the text of a field in records that failed, or a pattern of several; None if it is no outcome.

    It is empty for a status of HTTP, and for a text that only records that failed have.
    """
    if is_error(group, event, field):
        return ""
    words = set(split_words(field.path[-1]))
    values = {
        str(value) for record in group.records[event.name] if (value := record.values.get(field.path)) is not None
    }
    if field.type == "integer" and words & _STATUS_WORDS and all(map(_STATUS.fullmatch, values)):
        return ""
    if field.type == "boolean" and words & (_SUCCESS_WORDS | _FAILURE_WORDS) and len(words) == 1:
        return "false" if words & _SUCCESS_WORDS else "true"
    failures = [value for value in values if _FAILURE.fullmatch(value)]
    if field.type == "text" and words & _OUTCOME_WORDS and 0 < len(failures) < len(values):
        return "|".join(sorted(map(re.escape, failures))) if len(failures) > 1 else failures[0]
    return None


def is_error(group: Group, event: EventProposal, field: FieldProposal) -> bool:
    """Return whether a field has the error of records that failed: others lack it, or have a text for no error."""
    words = {word for part in field.path for word in split_words(part)}
    if field.type != "text" or not words & _ERROR_WORDS or words - _ERROR_WORDS - _PARTS_OF_ERRORS:
        return False
    texts = [str(record.values.get(field.path, "")) for record in group.records[event.name]]
    return 0 < sum(_NO_ERROR.fullmatch(text) is None for text in texts) < len(texts)


def write_pattern_of_no_error(group: Group, event: EventProposal, field: FieldProposal) -> str:
    """Return a pattern of the texts by which a field says that there is no error."""
    texts = {str(record.values.get(field.path, "")) for record in group.records[event.name]}
    return "|".join(sorted(re.escape(text) for text in {"", *filter(_NO_ERROR.fullmatch, texts)}))


def list_outcome_metrics(
    group: Group, event: EventProposal, names: NameSpace, key: str = ""
) -> tuple[MetricProposal, ...]:
    """Return the number of records of an event, and the share of those that failed: 0 % if none did.

    With the `key` of a grain, its values with a record count.
    """
    field = find_outcome(group, event)
    if field is None:
        return ()
    title, place = make_event_title(group.source, event), ".".join(field.path)
    counted = f"values of `{key}` with a record" if key else "records"
    total = MetricProposal(names.add(join_names(event.name, "count")), f"{title}: count", "count",
                           f"How many {counted} of `{event.name}` a host has", event=event.name)  # fmt: skip
    failure = describe_failure(group, event, field)
    which = f"`{place}` {failure}" if failure else f"a `{place}` of {FIRST_FAILURE} or more"
    where = (field.name, failure) if failure else ("", "")
    if is_error(group, event, field):
        which, where = f"an error in `{place}`", (field.name, write_pattern_of_no_error(group, event, field))
    failed = MetricProposal(names.add(join_names(event.name, "failed")), f"{title}: failed", "percent",
                            f"Share of {counted} of `{event.name}` with {which}", event=event.name, field=field.name,
                            where=where, better="lower", is_failure=True)  # fmt: skip
    return total, failed
