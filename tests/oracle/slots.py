"""Compute starts, epochs, epoch slots and safe intervals of slots."""

from __future__ import annotations

import math

from tests.oracle.model import Genesis


def compute_slot_start(genesis: Genesis, slot: int) -> int:
    """Return the instant (ns) at which a slot begins."""
    return genesis.system_start + slot * genesis.slot_length


def compute_slot(genesis: Genesis, instant: int) -> int:
    """Return the slot of an instant (ns)."""
    return (instant - genesis.system_start) // genesis.slot_length


def compute_epoch(genesis: Genesis, slot: int) -> tuple[int, int]:
    """Return epoch and epoch slot."""
    return divmod(slot, genesis.epoch_length)


def compute_safe_interval(genesis: Genesis, epoch_slot: int) -> int:
    """Return floor(epoch slot / k x f) in double precision, divided first."""
    return math.floor(epoch_slot / genesis.security_param * genesis.active_slots_coeff)
