"""Write titles of metrics and sections as a person would: without units, doubled words and invented prefixes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from assay_propose.model import EventProposal, FieldProposal, SourceProposal
from assay_propose.names import PREFIX, split_words
from assay_propose.units import UNITS, find_unit, is_rate

#: words that say only in which dimension something is measured: the event says what it is
_GENERAL = frozenset((
    "amount", "count", "duration", "elapsed", "len", "length", "number", "percent", "size", "time", "took", "total",
    "val", "value",
))  # fmt: skip
#: how a title writes words of names
_FORMS = {word: word.upper() for word in (
    "api", "cpu", "db", "dns", "gc", "gpu", "http", "https", "id", "ip", "jvm", "llm", "ram", "rpc", "rtt", "sql",
    "io", "os", "qps", "rps", "rss", "rtf", "tps", "ttfb", "ttft", "uuid",
    "tcp", "tls", "ttl", "udp", "url",
)} | {"avg": "average", "cnt": "count", "len": "length", "num": "number"}  # fmt: skip
_ACRONYM = re.compile(r"[b-df-hj-np-tv-xz]{2,4}")  # a first word without vowels, such as `tts`
#: short forms of words that have no vowels either
_NO_ACRONYMS = frozenset((
    "blk", "blks", "bps", "cfg", "cmd", "cmds", "cmp", "cnt", "ctx", "dst", "evt", "grp", "img", "mbps", "msg", "msgs",
    "nr", "nth", "pct", "pkt", "pkts", "ptr", "src", "std", "str", "svc", "thr", "tmp", "trx", "txn", "txns", "txs",
    "vs", "wrk",
)) | {*UNITS}  # fmt: skip
_LEVEL = re.compile(r"(.*\S) ?\((\d[\d.]*) ?%\)")  # a column such as `Score Error (99.9%)`
_PERCENTILE = re.compile(r"(\d[\d.]*)%")  # a column such as `99.9%`
_MAX_TIME_TITLE = 40  # letters
_NOUNS = {"byte": "size", "percent": "percentage"}  # of units; those of time measure time


def make_title(text: str) -> str:
    """Return the words of a text as a title, without the prefix of names that are reserved words."""
    words = split_words(text)
    if len(words) > 1 and words[0] == PREFIX.strip("_"):
        words = words[1:]
    if words and _ACRONYM.fullmatch(words[0]) and words[0] not in _NO_ACRONYMS:
        words = [words[0].upper(), *words[1:]]
    title = " ".join(_FORMS.get(word, word) for word in words) or text
    return title[:1].upper() + title[1:]


def make_time_title(start: str, end: str) -> str:
    """Return what the time between two events is called; if that is long, without the words that both names have."""
    names = [split_words(start), split_words(end)]
    shared = {word.removesuffix("s") for word in names[0]} & {word.removesuffix("s") for word in names[1]}
    short = [" ".join(word for word in words if word.removesuffix("s") not in shared) for words in names]
    title = f"{make_title(start)} to {lower_title(make_title(end))}"
    is_long = len(title) > _MAX_TIME_TITLE and all(short)
    return f"{make_title(short[0])} to {lower_title(make_title(short[1]))}" if is_long else title


def lower_title(title: str) -> str:
    """Return a title as it stands behind another word: without its first capital, unless that is an abbreviation."""
    return title if title[:2].isupper() else title[:1].lower() + title[1:]


def make_event_title(source: SourceProposal, event: EventProposal) -> str:
    """Return what the records of an event are called: by the text that marks them, its name, or that of the logs."""
    if source.kind == "text-lines":
        return make_title(event.name)
    text = event.names[0] if event.names else source.subject
    return make_title(text if split_words(text) else event.name)


def make_value_title(source: SourceProposal, event: EventProposal) -> str:
    """Return what the value of the samples of an event is called, without the unit in their name."""
    title = make_event_title(source, event)
    words = _drop_unit(split_words(title)) if source.kind == "samples" else []
    return make_title(" ".join(words)) if words else title


def make_field_title(source: SourceProposal, event: EventProposal, field: FieldProposal) -> str:
    """Return what a number is called; behind its event if others have the field, too, or if it says too little."""
    if match := _PERCENTILE.fullmatch(field.path[-1]):
        return f"Percentile {match[1]}"
    if match := _LEVEL.fullmatch(field.path[-1]):
        plain = replace(field, path=(*field.path[:-1], match[1]))
        return f"{make_field_title(source, event, plain)} ({match[2]} %)"
    if field.quantity:
        plain = replace(field, path=field.place, quantity="")
        return f"{make_field_title(source, event, plain)} ({field.quantity})"
    is_ambiguous = len({item.place for item in source.fields if item.path[-1] == field.path[-1]}) > 1
    whole = field.path[:-1] if field.path[-1] == "value" and field.path[1:] else field.path
    words = _list_title_words(field, " ".join(whole) if is_ambiguous else field.path[-1])
    is_unique = sum(field.name in item.fields for item in source.events) == 1
    event_title = make_event_title(source, event)
    title = make_title(" ".join(words))
    is_clear = not set(words) <= _GENERAL or not (event.names or source.kind == "text-lines")
    if (is_unique and is_clear) or f"{title.lower()} ".startswith(f"{event_title.lower()} "):
        return title
    return f"{event_title}: {lower_title(title)}"


def make_plain_title(field: FieldProposal) -> str:
    """Return what a number is called by its name only."""
    return make_title(" ".join(_list_title_words(field, field.path[-1])))


def _list_title_words(field: FieldProposal, text: str) -> list[str]:
    return _drop_unit(split_words(text)) or [_find_noun(field)]


def _drop_unit(words: Sequence[str]) -> list[str]:
    """Return the words of a name without its unit, which reports print."""
    if "per" in words[1:] and is_rate(find_unit(words)[0]):
        measured = list(words[: words.index("per", 1)])
        return measured[:-1] if measured[-1] in UNITS else measured
    has_unit = words[-1:] and words[-1] in UNITS and (len(words) == 1 or find_unit(words)[1])
    return list(words[:-1] if has_unit else words)


def _find_noun(field: FieldProposal) -> str:
    return _NOUNS.get(field.unit, "time" if field.unit.endswith(("second", "minute", "hour")) else "value")
