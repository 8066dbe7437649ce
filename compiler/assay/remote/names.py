"""Names of objects and of members of archives, as files below a folder."""

from __future__ import annotations


def parts_of(name: str) -> tuple[str, ...]:
    """The parts of a name: those that say nothing (`.`, empty ones) left out."""
    return tuple(part for part in name.split("/") if part not in ("", "."))


def slashed(name: str) -> str:
    """A name whose parts backslashes divide, too."""
    return name.replace("\\", "/")


def refusal(name: str) -> str:
    """Why a name cannot be that of a file below a folder; empty when it can."""
    if name.startswith("/"):
        return "its name is absolute"
    if ".." in name.split("/"):
        return "its name leads out of the run (`..`)"
    if not parts_of(name):
        return "it has no name"
    if "\0" in name or not _is_text(name):
        return "its name is no text"
    return ""


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
