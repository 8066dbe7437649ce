"""Counters and gauges of the process of a host, second by second."""

from random import Random

from simulation.shape import EPOCH_LENGTH


class Resources:
    """Resource usage of a process; counters start with the values after a replay of the chain."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.busy_seconds = 0
        self.heap = 6_815_744_000 + 4_194_304 * int(random.random() * 60)
        self.counters = {
            "alloc": 98_200_000_000,
            "cpu": 10_830,
            "gc": 4_725,
            "mut": 6_105,
            "fs_rd": 0,
            "fs_wr": 0,
            "major": 7,
            "minor": 3_590,
            "net_rd": 0,
            "net_wr": 0,
        }

    def advance(self, slot: int) -> dict[str, int]:
        """Advance by one second; return the fields of the next resource line."""
        random, counters = self.random.random, self.counters
        gc, mut = int(random() < 0.5), self.sample_mutator_time(slot)
        counters["gc"] += gc
        counters["mut"] += mut
        counters["cpu"] += gc + mut + int(random() < 0.1)
        counters["alloc"] += 43_000_000 + int(random() * 4_000_000)
        counters["minor"] += int(random() * 2.9) if random() < 0.9 else 3
        counters["major"] += int(random() < 0.001)
        counters["net_rd"] += 20_000 + int(random() * 56_000)
        counters["net_wr"] += 20_000 + int(random() * 56_000)
        counters["fs_wr"] += 4_096 * (40 + int(random() * 48))
        counters["fs_rd"] += 4_096 * int(random() < 0.0015)
        live = 3_136_000_000 + int(random() * 30_000_000)
        rss = self.heap + 62_500_000 + int(random() * 1_600_000)
        return counters | {"heap": self.heap, "live": live, "rss": rss}

    def sample_mutator_time(self, slot: int) -> int:
        """Sample hundredths of a second: low except in busy periods, one of which starts with each epoch."""
        random = self.random.random
        if (slot and slot % EPOCH_LENGTH == 0) or random() < 0.004:
            self.busy_seconds = 2 + int(random() * 7)
        if self.busy_seconds:
            self.busy_seconds -= 1
            return 86 + int(random() * 22)
        return 2 + int(random() * 5)
