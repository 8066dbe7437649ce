"""Random run directories and random filters, to compare two implementations beyond the reference cases.

A run has 2 to 5 hosts and 20 to 80 slots, battles and short forks, lost, doubled and disordered events, ties
in time, missing readings, restarted counters, silences below 1000 slots, events before the system start, and
all generations of names; it can always be analysed (some block, some slot), unless a defect is requested by
name. The same seed writes the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.oracle.instants import SECOND
from tests.oracle.lines import GENERATIONS, Line, Style, draw_instant_text, format_line, write_log
from tests.oracle.model import Condition
from tests.oracle.simulate import Block, Shape, Simulation, draw_shape

LARGEST_SILENCE = 990
_EXTENDING = ("resources", "check_started")
_NAMING = (
    "block_context",
    "ledger_state",
    "ledger_view",
    "leader",
    "not_leader",
    "ticked",
    "snapshot",
    "forged",
)


def _get_generator(seed: int | Random) -> Random:
    return seed if isinstance(seed, Random) else Random(seed)


def _log_early_lines(sim: Simulation, host: int) -> None:
    """Return events before the system start, of a node that waits for it."""
    rng, start = sim.rng, sim.shape.system_start
    for _ in range(rng.choice([0, 0, 0, 1, 4])):
        instant = start - rng.randint(1, 100 * SECOND)
        event = rng.choice(["resources", "ledger_metrics", "noise", "check_started"])
        if event == "resources":
            sim.log_resources(host, instant)
        else:
            data = {"slot": 0, "utxoSize": 5, "chainDensity": 0.5} if event != "noise" else {}
            sim.hosts[host].lines.append(Line(instant, event, data))


def _log_late_reading(sim: Simulation, host: int) -> None:
    """Add a last reading, long after the run."""
    shape = sim.shape
    slot = shape.first_slot + shape.slots + sim.rng.randint(1, LARGEST_SILENCE - 100)
    sim.log_resources(host, sim.get_slot_start(slot) + sim.draw_delay(0.4, 0.6))


def _drop_and_repeat_lines(rng: Random, shape: Shape, lines: Sequence[Line]) -> list[Line]:
    remaining_lines: list[Line] = []
    for line in lines:
        if not line.fixed and rng.random() < shape.loss:
            continue
        remaining_lines.append(line)
        if not line.fixed and rng.random() < shape.doubling:
            delay = rng.choice([0, 0, 1_000_000, 50_000_000])
            remaining_lines.append(Line(line.instant + delay, line.event, dict(line.data), False, line.slot))
    return remaining_lines


def _shuffle_lines(rng: Random, shape: Shape, lines: list[Line]) -> list[Line]:
    """Move some lines a few places within the log, with unchanged instants."""
    ordered = sorted(lines, key=lambda line: line.instant)
    for index in range(len(ordered)):
        if not ordered[index].fixed and rng.random() < shape.disorder:
            line = ordered.pop(index)
            ordered.insert(max(0, index + rng.choice([-8, -2, -1, 1, 2, 8])), line)
    return ordered


def _drop_unreachable_lines(shape: Shape, lines: Sequence[Line]) -> list[Line]:
    """Drop lines that name a slot outside of their host's log so far."""
    events = [line for line in lines if line.event != "noise"]
    if not events:
        return list(lines)
    first_slot = (max(events[0].instant, shape.system_start) - shape.system_start) // shape.slot_length
    last_slot, reachable = first_slot, list[Line]()
    for line in lines:
        slot = line.slot
        if line.event == "resources":
            slot = (line.instant - shape.system_start) // shape.slot_length
        if line.instant < shape.system_start or slot is None:
            reachable.append(line)
        elif slot >= first_slot and line.event in _EXTENDING:
            last_slot = max(last_slot, slot)
            reachable.append(line)
        elif first_slot <= slot <= last_slot or line.event not in _NAMING + _EXTENDING:
            reachable.append(line)
    return reachable


def _find_block(line: Line) -> str | None:
    hashes = [line.data.get(key) for key in ("block", "head", "newtip", "addBlock", "blockHash")]
    return next((str(text)[:64] for text in hashes if text is not None), None)


def _drop_lines_before_forging(sim: Simulation, host: int, lines: Sequence[Line]) -> list[Line]:
    """Drop a host's lines about its own block before the block is forged."""
    unforged_blocks = {block.block for block in sim.blocks if block.forger == host}
    remaining_lines: list[Line] = []
    for line in lines:
        block = _find_block(line)
        if line.event == "forged" and block is not None:
            unforged_blocks.discard(block)
        if block not in unforged_blocks:
            remaining_lines.append(line)
    return remaining_lines


def _build_host_lines(sim: Simulation, host: int) -> list[Line]:
    rng, shape = sim.rng, sim.shape
    _log_early_lines(sim, host)
    if rng.random() < 0.05:
        _log_late_reading(sim, host)
    lines = _drop_and_repeat_lines(rng, shape, sim.hosts[host].lines)
    return _drop_unreachable_lines(shape, _drop_lines_before_forging(sim, host, _shuffle_lines(rng, shape, lines)))


def _draw_junk(rng: Random, instant: int) -> tuple[int | None, str]:
    """Return lines that are no events: texts, truncated objects, unknown objects, an event without its field."""
    text = draw_instant_text(rng, instant)
    choices: tuple[tuple[int | None, str], ...] = (
        (None, "Listening on a socket"),
        (None, ""),
        (None, f'{{"at":"{text}","ns":"Resources","data":{{"Alloc":1'),
        (instant, f'{{"at":"{text}","ns":"Other.Thing","data":{{"kind":"X"}}}}'),
        (instant, f'{{"at":"{text}","ns":"Forge.Loop.LedgerView","data":{{"kind":"K"}}}}'),
        (instant, f'{{"at":"{text}","ns":"Resources","data":{{"CentiCpu":3}}}}'),
    )
    return rng.choice(choices)


def _build_entries(rng: Random, lines: Sequence[Line]) -> list[tuple[int | None, str]]:
    style = Style(rng.choice(GENERATIONS), rng.choice([0.0, 0.0, 0.3]))
    entries: list[tuple[int | None, str]] = [(None, "Node configuration: NodeConfiguration {}")]
    for line in lines:
        entries.append((line.instant, format_line(rng, line, style)))
        if rng.random() < 0.01:
            entries.append(_draw_junk(rng, line.instant))
    return entries


def _draw_genesis(rng: Random, shape: Shape) -> dict[str, Any]:
    seconds = shape.slot_length / SECOND
    return {
        "systemStart": draw_instant_text(Random(0), shape.system_start).replace("000Z", "Z"),
        "slotLength": int(seconds) if seconds.is_integer() else seconds,
        "epochLength": shape.epoch_length,
        "securityParam": rng.choice([1, 3, 5, 12]),
        "activeSlotsCoeff": rng.choice([0.05, 0.1, 0.5, 1.0]),
        "protocolParams": {"maxBlockBodySize": shape.max_block_body_size, "maxTxSize": 16_384},
    }


def _draw_meta(rng: Random) -> dict[str, Any]:
    components = ["cardano-node", "ouroboros-consensus", "ouroboros-network", "plutus-core"]
    plutus = rng.choice([None, {"type": "LimitSaturationLoop", "script": "v1/loops"}, {"script": "alone"}])
    generator = {"add_tx_size": 100, "inputs_per_tx": 2, "outputs_per_tx": 2, "tps": 0.5, "tx_count": 90}
    return {
        "tag": "random",
        "batch": rng.choice(["batch", "glass"]),
        "ident": "random",
        "node_ghc_version": "9.6.5",
        "era": "conway",
        "manifest": {name: {"version": "1.2.3", "commit": "0" * 40} for name in components},
        "profile_content": {
            "genesis": {"delegators": 7, "utxo": 8} | rng.choice([{}, {"dreps": 9}]),
            "generator": generator | ({"plutus": plutus} if plutus else {}),
        },
    }


def _write_frame(rng: Random, directory: Path, shape: Shape) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / rng.choice(["genesis-shelley.json", "genesis/genesis.shelley.json"])
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(_draw_genesis(rng, shape)), encoding="utf-8")
    (directory / "meta.json").write_text(json.dumps({"meta": _draw_meta(rng)}), encoding="utf-8")


def _get_forger_lines(sim: Simulation, block: Block) -> list[Line]:
    return sim.hosts[block.forger].lines


def _remove_size(sim: Simulation, block: Block) -> None:
    lines = _get_forger_lines(sim, block)
    lines[:] = [line for line in lines if line.data.get("blockHash") != block.block]


def _remove_forging(sim: Simulation, block: Block) -> None:
    lines = _get_forger_lines(sim, block)
    lines[:] = [x for x in lines if not (x.event == "forged" and x.data["block"] == block.block)]


def _repeat_forging(sim: Simulation, block: Block) -> None:
    lines = _get_forger_lines(sim, block)
    lines += [x for x in lines if x.event == "forged" and x.data["block"] == block.block]


def _request_by_forger(sim: Simulation, block: Block) -> None:
    sim.log(block.forger, block.forged + 1, "requested", {"head": block.block, "length": 1}, fixed=True)


def _set_unknown_parent(sim: Simulation, block: Block) -> None:
    for line in _get_forger_lines(sim, block):
        if line.event == "forged" and line.data["block"] == block.block:
            line.data["blockPrev"] = "0" * 64


def _log_unknown_header(sim: Simulation, block: Block) -> None:
    data = {"slot": block.slot, "blockNo": block.block_no, "block": "0" * 64}
    sim.log(block.forger, block.forged + 1, "header", data, fixed=True)


def _log_reading_after_gap(sim: Simulation, block: Block) -> None:
    slot = sim.shape.first_slot + sim.shape.slots + 1200
    sim.log_resources(block.forger, sim.get_slot_start(slot))
    _get_forger_lines(sim, block)[-1].fixed = True


DEFECTS: Mapping[str, Callable[[Simulation, Block], None]] = {
    "block without size": _remove_size,
    "block forged by nobody": _remove_forging,
    "block forged twice": _repeat_forging,
    "block requested by its forger": _request_by_forger,
    "unknown parent": _set_unknown_parent,
    "unknown header": _log_unknown_header,
    "long silence": _log_reading_after_gap,
}


def write_random_run(
    directory: Path,
    seed: int | Random,
    *,
    hosts: tuple[int, int] = (2, 5),
    slots: tuple[int, int] = (20, 80),
    defect: str | None = None,
) -> Shape:
    """Write a random run into a directory, and return its shape.

    `seed` is a number or a generator of random numbers; a property based test draws a number, because a
    run needs more random numbers than a drawn generator has, and bounds of hosts and slots, so that it can shrink.
    `defect`, one of DEFECTS, breaks one rule, so that the run must be refused.
    """
    rng = _get_generator(seed)
    sim = Simulation(rng, draw_shape(rng, hosts, slots))
    sim.run()
    if defect is not None:
        for block in [block for block in sim.blocks if block.block_no == 0]:  # one of them is on the chain
            DEFECTS[defect](sim, block)
    _write_frame(rng, directory, sim.shape)
    for index, name in enumerate(sim.shape.hosts):
        write_log(rng, directory / name, _build_entries(rng, _build_host_lines(sim, index)))
    return sim.shape


def _draw_arguments(rng: Random, shape: Shape) -> dict[str, int | float | None]:
    """Return condition name -> an argument that accepts some blocks and rejects others."""
    first, last = shape.first_slot, shape.first_slot + shape.slots - 1
    middle, epochs = rng.randint(first, last), last // shape.epoch_length
    return {
        "SlotGEq": rng.randint(first, middle),
        "SlotLEq": rng.randint(middle, last),
        "EpochGEq": rng.randint(0, epochs),
        "EpochLEq": rng.randint(0, epochs),
        "EpochSafeIntGEq": rng.choice([0, 0, 1]),
        "EpochSafeIntLEq": rng.choice([0, 1, 2, 5]),
        "EpSlotGEq": rng.randrange(shape.epoch_length // 2 + 1),
        "EpSlotLEq": rng.randrange(shape.epoch_length // 2, shape.epoch_length),
        "SlotHasLeaders": None,
        "BUnitaryChainDelta": None,
        "BMinimumAdoptions": rng.randint(0, len(shape.hosts)),
        "BSizeGEq": rng.choice([500, 2_990, 3_000, 3_001]),
        "BSizeLEq": rng.choice([2_999, 3_000, 3_010, shape.max_block_body_size]),
        "BFullnessGEq": rng.choice([0.01, 0.0333, 0.2, 0.299]),
        "BFullnessLEq": rng.choice([0.0333, 0.3, 0.5, 1.0]),
        "BNonNegatives": None,
    }


def draw_filters(seed: int | Random, shape: Shape) -> list[Condition]:
    """Return up to four conditions of all kinds; they may accept nothing."""
    rng = _get_generator(seed)
    arguments = _draw_arguments(rng, shape)
    names = [name for name in arguments if name != "BNonNegatives" or rng.random() < 0.05]
    return [Condition(name, arguments[name]) for name in rng.sample(names, rng.choice([0, 0, 1, 1, 2, 3, 4]))]


def format_filters(filters: Sequence[Condition]) -> str:
    """Return the text of a filter file with these conditions."""

    def build_entry(condition: Condition) -> dict[str, Any]:
        argument = {} if condition.argument is None else {"contents": condition.argument}
        tag = "CBlock" if condition.name.startswith("B") else "CSlot"
        return {"tag": tag, "contents": {"tag": condition.name, **argument}}

    return json.dumps([build_entry(condition) for condition in filters])
