"""Read filter files, and judge blocks and slots by their conditions."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.oracle.model import Condition, Genesis, Number

_SLOT_TESTS: Mapping[str, tuple[str, Callable[[Number, Number], bool]]] = {
    f"{name}{suffix}": (attribute, test)
    for name, attribute in (
        ("Slot", "slot"),
        ("Epoch", "epoch"),
        ("EpochSafeInt", "safe_interval"),
        ("EpSlot", "epoch_slot"),
    )
    for suffix, test in (("GEq", lambda x, limit: x >= limit), ("LEq", lambda x, limit: x <= limit))
}
_BLOCK_NAMES = frozenset(
    {
        "BUnitaryChainDelta",
        "BMinimumAdoptions",
        "BSizeGEq",
        "BSizeLEq",
        "BFullnessGEq",
        "BFullnessLEq",
        "BNonNegatives",
    }
)


class SlotFacts(NamedTuple):
    """Facts that slot conditions read."""

    slot: int
    epoch: int
    safe_interval: int
    epoch_slot: int
    has_leaders: bool


class BlockFacts(NamedTuple):
    """Facts that block conditions read, in addition to the block's slot."""

    size: int
    chain_delta: int
    adoptions: int


def _parse_condition(entry: Mapping[str, Any]) -> Condition:
    contents = entry["contents"]
    argument = contents.get("contents")
    return Condition(contents["tag"], None if isinstance(argument, bool) else argument)


def load_filters(path: Path) -> list[Condition]:
    """Read a filter file, a JSON array of `{"tag": "CSlot"|"CBlock", "contents": {...}}`."""
    return [_parse_condition(entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


def is_slot_condition(condition: Condition) -> bool:
    """Return whether the condition restricts slots, too (section 6)."""
    return condition.name not in _BLOCK_NAMES


def is_slot_accepted(condition: Condition, facts: SlotFacts) -> bool:
    """Return the verdict of a slot condition."""
    if condition.name == "SlotHasLeaders":
        return facts.has_leaders
    attribute, test = _SLOT_TESTS[condition.name]
    assert condition.argument is not None
    return test(getattr(facts, attribute), condition.argument)


def is_block_accepted(condition: Condition, genesis: Genesis, slot: SlotFacts, block: BlockFacts) -> bool:
    """Return the verdict of any condition on a block."""
    if is_slot_condition(condition):
        return is_slot_accepted(condition, slot)
    limit = condition.argument or 0
    match condition.name:
        case "BUnitaryChainDelta":
            return block.chain_delta == 1
        case "BMinimumAdoptions":
            return block.adoptions >= limit
        case "BSizeGEq":
            return block.size >= limit
        case "BSizeLEq":
            return block.size <= limit
        case "BFullnessGEq":
            return block.size > math.floor(genesis.max_block_body_size * limit)
        case "BFullnessLEq":
            return block.size < math.floor(genesis.max_block_body_size * limit)
        case _:  # BNonNegatives: holds for no block, whatever its times
            return False
