"""`assay verify` of what is made of publications: a report made again, or a history."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.app.history import build_history
from assay.app.options import Options
from assay.app.regenerate import regenerate
from assay.app.session import Session
from assay.lang import normal_form
from assay.provenance.read import RecordedPublished, content_hash
from assay.provenance.record import file_of
from assay.publication.edition import chosen


def changed_publications(found: RecordedPublished) -> Iterator[str]:
    """A line for each publication file that is gone or has other content."""
    for path, said in zip(found.places, found.content.publications, strict=True):
        name = f"input {said.file}"
        try:
            _, _, digest = file_of(path.parent, path.name)
        except FileNotFoundError:
            yield f"{name}: gone"
        except OSError as error:
            yield f"{name}: cannot be read ({error.strerror})"
        else:
            if digest != said.sha256:
                yield f"{name}: content changed (sha256 {digest[:12]}, was {said.sha256[:12]})"


def definition(session: Session, found: RecordedPublished) -> str:
    """Hash of the definition of the report as it is now: of its edition, or of the history."""
    content = found.content
    if content.edition:
        _, report = session.report(content.report)
        return content_hash(normal_form.plain(chosen(report, "", content.edition)))
    return content_hash(normal_form.plain(session.history(content.report)[1]))


def rebuild(session: Session, found: RecordedPublished, out: Path) -> None:
    """Make the report again into a folder."""
    said = found.content
    forms = tuple(found.forms)
    if said.edition:
        regenerate(session, found.places[0], out, said.report, said.edition, forms)
    else:
        title, author, date = (said.options.get(name, "") for name in ("title", "author", "date"))
        build_history(
            session, said.report, found.places, out, Options(title=title, author=author, date=date, forms=forms)
        )
