"""Pack the rows of large figures for a page: by column, which takes a quarter of the room of records.

A packed dataset is `{"length": number of rows, "columns": {name: column}}`; the page's script restores the records. A
column is one of

    {"plain": [value, ...]}
    {"runs": [[value, number of rows], ...]}            where most neighbours are equal
    {"values": [value, ...], "places": [place, ...]}    where most rows share few values; a place is that of the value

A missing value is null.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

Json = Any
#: number of rows from which on they are packed
MANY = 5000
#: a column with as many rows for each run, or for each value, is packed by these
FREQUENT = 4


def pack_datasets(spec: Mapping[str, Json]) -> dict[str, Json]:
    """Return a specification whose datasets of many rows are packed."""
    datasets: Mapping[str, Json] = spec.get("datasets", {})
    packed = {name: pack_rows(rows) if len(rows) >= MANY else rows for name, rows in datasets.items()}
    return {**spec, "datasets": packed} if datasets else dict(spec)


def pack_rows(rows: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """Return records as a packed dataset."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {"length": len(rows), "columns": {name: pack_column([row.get(name) for row in rows]) for name in names}}


def pack_column(values: Sequence[Json]) -> dict[str, Json]:
    """Return the values of a column in the form that takes the least room."""
    # Numbers that are equal may be written differently: 1 and 1.0, 0.0 and -0.0.
    texts = [repr(value) for value in values]
    runs = [
        [values[group[0]], len(group)]
        for _, numbers in itertools.groupby(range(len(values)), key=texts.__getitem__)
        if (group := list(numbers))
    ]
    if len(runs) * FREQUENT <= len(values):
        return {"runs": runs}
    value_by_text = dict(zip(texts, values, strict=True))
    if len(value_by_text) * FREQUENT <= len(values):
        places = {text: place for place, text in enumerate(value_by_text)}
        return {"values": list(value_by_text.values()), "places": [places[text] for text in texts]}
    return {"plain": list(values)}
