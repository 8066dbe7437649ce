"""Compute machine metrics: samples of one host's analysed slots (section 6)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tests.oracle.distribution import Exact, Population, summarize_samples
from tests.oracle.filters import SlotFacts, is_slot_accepted, is_slot_condition
from tests.oracle.instants import SECOND
from tests.oracle.model import Condition, Genesis, RefusalError
from tests.oracle.propagation import Samples
from tests.oracle.resources import RESOURCES
from tests.oracle.slots import compute_epoch
from tests.oracle.timeline import Slot, compute_start_delay

BUSY = 85  # % of a core


def select_slots(genesis: Genesis, host: str, slots: Sequence[Slot], filters: Sequence[Condition]) -> list[Slot]:
    """Return the slots that all slot conditions accept. Raise RefusalError without such slots."""
    conditions = [condition for condition in filters if is_slot_condition(condition)]

    def is_accepted(slot: Slot) -> bool:
        true_epoch_slot = compute_epoch(genesis, slot.slot)[1]  # the opening slot's own epoch slot is 0
        facts = SlotFacts(slot.slot, slot.epoch, slot.safe_interval, true_epoch_slot, slot.leaderships > 0)
        return all(is_slot_accepted(condition, facts) for condition in conditions)

    accepted_slots = [slot for slot in slots if is_accepted(slot)]
    if not accepted_slots:
        raise RefusalError(f"{host}: the filters accept no slot")
    return accepted_slots


def _compute_duration(start: int | None, end: int | None) -> int | None:
    return None if start is None or end is None else end - start


def _iter_durations(genesis: Genesis, slot: Slot) -> Iterator[tuple[str, int | None]]:
    yield "cdfStarted", compute_start_delay(genesis, slot)
    yield "cdfBlkCtx", _compute_duration(slot.started, slot.block_context)
    yield "cdfLgrState", _compute_duration(slot.block_context, slot.ledger_state)
    yield "cdfLgrView", _compute_duration(slot.ledger_state, slot.ledger_view)
    start = slot.started if slot.ledger_view is None else slot.ledger_view
    yield "cdfLeading", _compute_duration(start, slot.leading)


DURATIONS = ("cdfStarted", "cdfBlkCtx", "cdfLgrState", "cdfLgrView", "cdfLeading")


def find_busy_spans(slots: Sequence[Slot]) -> list[list[Slot]]:
    """Return maximal runs of busy slots, or slots without a reading, among the analysed slots."""
    spans: list[list[Slot]] = [[]]
    for slot in slots:
        if slot.resources is None or slot.resources["CentiCpu"] >= BUSY:
            spans[-1].append(slot)
        elif spans[-1]:
            spans.append([])
    return [span for span in spans if span]


def _compute_crossing_lengths(spans: Sequence[Sequence[Slot]], epoch_slot: int) -> list[Exact]:
    """Return the lengths of spans that begin before and end after an epoch slot."""
    return [len(span) for span in spans if span[0].epoch_slot < epoch_slot < span[-1].epoch_slot]


def _compute_span_samples(genesis: Genesis, slots: Sequence[Slot]) -> dict[str, Samples]:
    spans = find_busy_spans(slots)
    return {
        "cdfSpanLensCpu": ([span[-1].slot - span[0].slot for span in spans], 1),
        "cdfSpanLensCpuEpoch": (_compute_crossing_lengths(spans, 3), 1),
        "cdfSpanLensCpuRwd": (_compute_crossing_lengths(spans, 3 + math.floor(genesis.epoch_length * 0.4)), 1),
    }


def compute_host_samples(genesis: Genesis, slots: Sequence[Slot]) -> dict[str, Samples]:
    """Return metric id -> exact samples of one host's analysed slots."""
    samples_by_name: dict[str, list[Exact]] = {name: [] for name in DURATIONS}
    for slot in slots:
        for name, value in _iter_durations(genesis, slot):
            if value is not None:
                samples_by_name[name].append(value)
    readings = [slot.resources for slot in slots if slot.resources is not None]
    return {
        **{name: (samples, SECOND) for name, samples in samples_by_name.items()},
        **{name: ([values[name] for values in readings], 1) for name in RESOURCES},
        **_compute_span_samples(genesis, slots),
        "cdfStarts": ([slot.starts for slot in slots], 1),
        "cdfLeads": ([slot.leaderships for slot in slots], 1),
        "cdfUtxo": ([slot.utxo_size for slot in slots], 1),
        "cdfDensity": ([slot.density for slot in slots], 1),
        "cdfBlockGap": ([slot.block_gap for slot in slots], 1),
        "cdfHostSlots": ([slots[-1].slot - slots[0].slot], 1),
    }


def summarize_host_samples(samples: dict[str, Samples]) -> dict[str, tuple[Population, int]]:
    """Return metric id -> summary and scale."""
    return {name: (summarize_samples(values), scale) for name, (values, scale) in samples.items()}
