"""Write documents as JSON text, and read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, cast

from assay.report import cell_links, formatted_text
from assay.report.document import Chart, Document, Plot
from assay.report.document_texts import PLAIN_TYPES, list_members
from assay.report.first_page.answer import ANSWER_DEFAULTS
from assay.report.tables import MetricTable, Table
from assay.util.diagnostics import fail
from assay.util.json_text import dump_indented


def to_json(document: Document) -> str:
    """Return the document as JSON text: keys in the order of the classes above, one space of indent, no escapes."""
    return dump_indented(_convert_to_plain_data(document), allow_nan=False) + "\n"


#: members that are left out of the JSON text if they have these values
DEFAULT_MEMBERS: dict[str, object] = {
    "marks": (),
    "beside": False,
    "cases": (),
    "x_label": "",
    "y_label": "",
    "abreast": 2,
    "wide": (),
    "claims": (),
    "of_rows": (),
    "of_columns": (),
    "notes": (),
    "of_headings": "",
    "shows": (),
    "named": (),
    "reduced_from": 0,
    "terms": (),
    "averages": "",
    "differences": "",
    "noise": "",
    "sort_keys": (),
    "verdicts": (),
    "values": (),
    "units": (),
    "row_units": (),
    "column_units": (),
    "answers": (),
    "observations": None,
    **ANSWER_DEFAULTS,
    "quoted": (),
    "leads": (),
    "counted": "",
    "printed": (),
    "percentiles": None,
    "remark": "",
    "shortlist": (),
    "formatted": (),
    "continues": False,
    "content": "",
    **cell_links.DEFAULT_MEMBERS,
    **formatted_text.DEFAULT_MEMBERS,
}


def _convert_to_plain_data(part: Any) -> Any:
    """Return a part of a document as plain data; `dataclasses.asdict` would copy every text."""
    if isinstance(part, tuple):
        return [item if type(item) in PLAIN_TYPES else _convert_to_plain_data(item) for item in part]
    if not (names := list_members(cast(Hashable, type(part)))):
        return part
    members = ((name, getattr(part, name)) for name in names)
    return {
        name: _convert_to_plain_data(value)
        for name, value in members
        if name not in DEFAULT_MEMBERS or value != DEFAULT_MEMBERS[name]
    }


def parse_document(text: str) -> Document:
    """Return the document that `to_json` wrote. Raises `invalid-document` with the place of every problem."""
    from pydantic import TypeAdapter, ValidationError  # slow to import, and only readers need it

    try:
        return TypeAdapter(Document).validate_json(text, strict=True)
    except ValidationError as error:
        places = [(tuple(map(str, item["loc"])), item["msg"]) for item in error.errors()]
        problems = "; ".join(f"{'.'.join(place)}: {message}" for place, message in _select_likely(places))
        raise fail("invalid-document", "the text is not a report document", found=problems) from None


def _select_likely(problems: Sequence[tuple[tuple[str, ...], str]]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield problems with their places; of a table or figure those of the kind that it has the fewest of."""
    counts = Counter(place[: index + 1] for place, _ in problems for index, name in enumerate(place) if name in _KINDS)
    for place, message in problems:
        kind = next((place[: index + 1] for index, name in enumerate(place) if name in _KINDS), ())
        if not kind or counts[kind] == min(number for item, number in counts.items() if item[:-1] == kind[:-1]):
            yield tuple(name for name in place if name not in _KINDS), message


_KINDS = (Chart.__name__, Plot.__name__, Table.__name__, MetricTable.__name__)
