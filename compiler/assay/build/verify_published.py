"""`assay verify` of what is made of publications: a report made again, or a history."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.build.comparison import Options
from assay.build.history import build_history
from assay.build.regenerate import regenerate
from assay.build.session import Session
from assay.engine.store import Store


def is_published(content: Mapping[str, Any]) -> bool:
    """Whether the content of a provenance is that of a report made of publications."""
    return isinstance(content.get("publication", content.get("publications")), list)


def changed_publications(content: Mapping[str, Any], places: Mapping[str, Any]) -> Iterator[str]:
    """A line for each publication file that is gone or has other content."""
    for path, said in zip(files(places), _said(content), strict=False):
        name = f"input {said['file']}"
        try:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
        except FileNotFoundError:
            yield f"{name}: gone"
        except OSError as error:
            yield f"{name}: cannot be read ({error.strerror})"
        else:
            if digest != said["sha256"]:
                yield f"{name}: content changed (sha256 {digest[:12]}, was {said['sha256'][:12]})"


def _said(content: Mapping[str, Any]) -> Sequence[Mapping[str, str]]:
    found = content.get("publication", content.get("publications"))
    assert isinstance(found, list)
    return found


def files(places: Mapping[str, Any]) -> tuple[Path, ...]:
    """The publication files, as the command line named them; of a report made again the points beside it, too."""
    if "publication" in places:
        path = Path(str(places["publication"]))
        return (path, path.with_name(path.name.removesuffix(".json") + ".cdf.json"))
    return tuple(Path(str(item)) for item in places["publications"])


def rebuild(session: Session, content: Mapping[str, Any], places: Mapping[str, Any], scratch: Path) -> Path:
    """The folder of the report made again, with a cache that is empty."""
    alone = Session(session.workspace, Store(scratch / "cache"), session.progress, session.threads, session.packages)
    out = scratch / "report"
    if "publication" in places:
        regenerate(alone, files(places)[0], out, str(content["report"]), str(content["edition"]))
    else:
        said = content["options"]
        options = Options(title=said["title"], author=said["author"], date=said["date"])
        build_history(alone, str(content["report"]), files(places), out, options)
    return out
