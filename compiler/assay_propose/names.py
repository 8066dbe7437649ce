"""Derive names of the spec language from texts of logs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from assay.lang.reserved_names import EVENTS, SERIES, is_reserved_table

MAX_LENGTH = 40
PREFIX = "of_"  # of names that would be reserved words
#: keywords of Dhall, and words that SQL or the compiler reserve as names
_KEYWORDS = frozenset((
    "as", "assert", "else", "exists", "false", "forall", "if", "in", "infinity", "let", "merge", "missing", "nan",
    "null", "then", "true", "using", "with",
))  # fmt: skip
_SQL_WORDS = frozenset((
    "all", "analyse", "analyze", "and", "any", "array", "asc", "asymmetric", "both", "case", "cast", "check",
    "collate", "column", "constraint", "create", "default", "deferrable", "desc", "describe", "distinct", "do",
    "else", "end", "except", "fetch", "for", "foreign", "from", "grant", "group", "having", "initially",
    "intersect", "into", "lateral", "leading", "limit", "logs", "not", "offset", "on", "only", "or", "order",
    "pivot", "placing", "primary", "qualify", "references", "returning", "select", "show", "summarize", "symmetric",
    "table", "trailing", "union", "unique", "unpivot", "values", "variadic", "when", "where", "window", "accepted",
    "base",
))  # fmt: skip
#: words that name no value behind them
NO_NAMES = frozenset((
    "a", "after", "an", "and", "at", "by", "for", "from", "has", "in", "into", "is", "of", "on", "over", "since",
    "the", "to", "took", "was", "with", "within",
))  # fmt: skip
#: units such as `kB`, `KiB`, `kBps`, `MBytes` and `MHz`, behind another letter only with a capital, or `/s`
_BYTES = re.compile(
    r"(?:(?<![A-Za-z])[kKMGT]|(?<=[a-z])(?:[KMGT]|k(?=B(?:/| per )s)))i?(?:B(?P<rate>ps)?|Bytes|Hz)(?![A-Za-z])"
)
_ABBREVIATION = re.compile(r"(?<![A-Za-z])[A-Z][a-z][A-Z](?![a-z])(?![A-Z]+(?![a-z]))")  # such as `CoW`, one word
_PLURAL = re.compile(r"[A-Z]{2,}s(?![A-Za-z])")  # of an abbreviation, such as `CPUs`
#: of a quantity such as `docs / ms`; `time / ms` is a time in this unit
_RATE = re.compile(
    r"(?<=[A-Za-z])(?<!time)(?<!latency)(?<!duration)(?<!\bt) ?/ ?(?:1 )?(?=(?:s|sec|second|ms|us|ns|minute|hour)\b)",
    re.IGNORECASE,
)
#: sizes, plurals and short forms before a last word `s` that is `per second`, as in `read_mb_s`; `times_s` are seconds
_MEASURED = re.compile(
    r"(?:[kmgt]i?)?b|bytes?|bits?|[kmgt]bits?|ops|evt|img|iter|msg|pkt|rec|req|tok|tx|txn"
    r"|(?!(?:times|timings|latencies|durations|delays|waits)$)[a-z]{3,}(?<![siu])s"
)
#: names of what did something: a process, a thread, a machine
_ACTORS = frozenset((
    "container", "container_id", "container_name", "host", "host_id", "host_name", "hostname", "instance",
    "instance_id", "pid", "pod", "pod_name", "ppid", "process_id", "thread_id", "tid",
))  # fmt: skip
_FUNCTIONS = "current_"  # functions without parentheses begin with it, so SQL of specs has no such names


def split_words(text: str) -> list[str]:
    """Return the lower-case words of a text; `responseTime_ms` has three, and `rx_kB/s` four, like `rx_kb_per_s`.

    So do `rx_kb_s` and `rx_rows_s`.
    """
    text = _RATE.sub(" per ", text)
    text = _BYTES.sub(lambda match: f" {match[0].removesuffix('ps').lower()}{' per s' if match['rate'] else ''}", text)
    text = _ABBREVIATION.sub(lambda match: match[0].lower().capitalize(), text)
    text = _PLURAL.sub(lambda match: match[0].lower(), text)
    spaced = re.sub(r"([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3 \2\4", text)
    words = re.findall(r"[a-z0-9]+", spaced.lower())
    if words[-1:] in (["s"], ["sec"]) and _MEASURED.fullmatch("".join(words[-2:-1])):
        words.insert(-1, "per")
    return words


def is_actor(path: Sequence[str]) -> bool:
    """Return whether keys name a process, a thread or a machine, such as `pid` and `host.name`."""
    return any("_".join(split_words(" ".join(path[-count:]))) in _ACTORS for count in (1, 2))


def make_identifier(text: str, default: str) -> str:
    """Return the words of a text as a name; `default` if it has none. Reserved names get a prefix."""
    name = "_".join(split_words(text))
    while len(name) > MAX_LENGTH and "_" in name:
        name = name.rpartition("_")[0]
    name = name[:MAX_LENGTH] or default
    is_taken = name in _KEYWORDS | _SQL_WORDS | EVENTS | {SERIES} or is_reserved_table(name)
    is_refused = name[0].isdigit() or name.startswith(_FUNCTIONS)
    return f"{PREFIX}{name}" if is_taken or is_refused else name


def is_prefixed(name: str) -> bool:
    """Return whether a name has the prefix of names that would be reserved."""
    return name.startswith(PREFIX)


def drop_prefix(name: str) -> str:
    """Return a name that may be a reserved word, such as that of a system or a part of one, without the prefix."""
    plain = name.removeprefix(PREFIX)
    return plain if plain[:1].isalpha() else name


def join_names(*names: str) -> str:
    """Return names as one, without the prefixes that only names on their own need."""
    name = "_".join(map(drop_prefix, names))
    return f"{PREFIX}{name}" if name.startswith(_FUNCTIONS) else name


def drop_number(name: str) -> str:
    """Return the name before the number that made it unique; empty if it has none."""
    match = re.fullmatch(r"(.+)_\d+", name)
    return match[1] if match else ""


class NameSpace:
    """Names that are in use; each new one is unique."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = set(names)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def add(self, name: str) -> str:
        """Return the name, with a number behind it if it is in use."""
        unique, number = name, 2
        while unique in self._names:
            unique, number = f"{name}_{number}", number + 1
        self._names.add(unique)
        return unique


def drop_common_words(names: Sequence[str]) -> dict[str, str]:
    """Return the names without the words with which all of them begin."""
    columns = zip(*(name.split("_")[:-1] for name in names), strict=False)
    common = sum(1 for _ in itertools.takewhile(lambda words: len(set(words)) == 1, columns))
    return {name: "_".join(name.split("_")[common:]) for name in names}
