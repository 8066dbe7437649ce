"""What a simulated cluster is like: its size, its rates, its delays."""

from dataclasses import dataclass
from math import isqrt

SECOND = 1_000_000_000
SYSTEM_START = 1_770_317_536  # 2026-02-05T18:52:16Z, in seconds since 1970
SLOT_LENGTH = SECOND
EPOCH_LENGTH = 600
ACTIVE_SLOTS = 0.05
SECURITY_PARAMETER = 12
# Measured on generated logs: plain bytes that a host writes per slot, with the rates below.
BYTES_PER_SLOT = 3515


@dataclass(frozen=True, slots=True)
class Shape:
    """A cluster and how long it runs. `seed` decides every random choice."""

    hosts: int
    slots: int
    seed: int

    def neighbours(self, host: int) -> tuple[int, ...]:
        """The hosts that `host` is connected to: next, previous, opposite, in big clusters some more."""
        steps = {1, self.hosts // 2}
        if self.hosts > 8:
            steps.add(isqrt(self.hosts))
        around = {(host + sign * step) % self.hosts for step in steps for sign in (1, -1)}
        return tuple(sorted(around - {host}))


def slots_for(megabytes: float, hosts: int) -> int:
    """How many slots give about so many megabytes (10^6 bytes) of plain logs over all hosts, at least 60."""
    return max(60, round(megabytes * 1e6 / (hosts * BYTES_PER_SLOT)))
