"""Size, rates and constants of a simulated cluster."""

from dataclasses import dataclass
from math import isqrt

SECOND = 1_000_000_000
SYSTEM_START = 1_770_317_536  # 2026-02-05T18:52:16Z, in seconds since 1970
SLOT_LENGTH = SECOND
EPOCH_LENGTH = 600
ACTIVE_SLOTS = 0.05
SECURITY_PARAMETER = 12
# Measured on generated logs: plain bytes per host and slot.
BYTES_PER_SLOT = 3515


@dataclass(frozen=True, slots=True)
class Shape:
    """Size and duration of a simulated cluster; `seed` determines all random choices."""

    hosts: int
    slots: int
    seed: int

    def list_neighbours(self, host: int) -> tuple[int, ...]:
        """List the peers of a host: next, previous, opposite, and in large clusters two more."""
        steps = {1, self.hosts // 2}
        if self.hosts > 8:
            steps.add(isqrt(self.hosts))
        peers = {(host + sign * step) % self.hosts for step in steps for sign in (1, -1)}
        return tuple(sorted(peers - {host}))


def choose_slots(megabytes: float, hosts: int) -> int:
    """Choose the number of slots, at least 60, for a total size of plain logs (megabytes of 10^6 bytes)."""
    return max(60, round(megabytes * 1e6 / (hosts * BYTES_PER_SLOT)))
