"""List the numbers of events that are worth a metric."""

from __future__ import annotations

from collections.abc import Collection

from assay.propose.choices import is_member, is_sequel, is_setting
from assay.propose.known_formats import is_of_benchmarks
from assay.propose.model import EventProposal, FieldProposal
from assay.propose.parameters import is_choice, is_parameter, is_repetition_number
from assay.propose.quantities import Quantity, describe_quantity, is_time_without_unit
from assay.propose.repeats import find_namesake
from assay.propose.sources import Group
from assay.propose.units import TIMES
from assay.propose.varying import (
    FEW_RECORDS,
    count_values,
    find_restart,
    find_run_constant,
    is_constant,
    only_grows,
)

_MIN_SAMPLES = 2  # of a metric of a log with more records


def list_quantities(group: Group, event: EventProposal, without: Collection[str] = ()) -> list[FieldProposal]:
    """Return the numbers of an event that are worth a metric: none that only grow, are constant, choices or ids.

    `without` are names of fields that have another use, such as a key.
    """
    fields = [field for field in map(group.source.find_field, event.fields)
              if field.is_quantity and field.name not in without]  # fmt: skip
    if group.known_format and not group.known_format.split[0]:
        fields = [field for field in fields if not describe_quantity(group, event, field).omission]
    records = group.records[event.name]
    least = _MIN_SAMPLES if group.source.records >= FEW_RECORDS else 1
    return sorted(
        (
            field
            for field in fields
            if (is_of_benchmarks(group.source.format) or not only_grows(records, field))
            and not (is_constant(group, event, field) and count_values(records, field) >= FEW_RECORDS)
            and not find_restart(group, event, field)
            and not is_choice(group, event, field)
            and not is_parameter(group, event, field)
            and not is_repetition_number(group, event, field)
            and not find_run_constant(group, event, field)
            and not is_setting(group, event, field)
            and not is_member(group, event, field)
            and not is_sequel(group, event, field)
            and not find_namesake(group, field)
            and sum(field.path in record.values for record in records) >= least
        ),
        key=lambda field: _rank_quantity(event, field, describe_quantity(group, event, field)),
    )


def _rank_quantity(event: EventProposal, field: FieldProposal, quantity: Quantity) -> tuple[bool, int]:
    """Return in which order numbers are measured: those with a direction first; times, others with a unit, the rest."""
    is_time = quantity.unit in TIMES or is_time_without_unit(event, field, quantity.unit)
    return quantity.better == "neither", 0 if is_time else 1 if quantity.unit != "none" else 2
