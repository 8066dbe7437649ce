"""Read the settings of a cluster: the table `cluster` of assay.toml, and `--on`."""

from __future__ import annotations

from dataclasses import dataclass

from assay.app.session.config import Config

LEASE = 60.0  # seconds without a sign of life after which the task of a worker is taken by another one
PORTION = 512  # MB of logs of a task, unless a single host has more
HERE = "here"  # the address that means no cluster


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """The address of a cluster (empty: none), the lease of a task in seconds, and its MB of logs."""

    on: str = ""
    lease: float = LEASE
    portion: float = PORTION


def read_cluster_settings(config: Config | None, on: str = "") -> ClusterSettings:
    """Return the settings; `on` overrides the address of the file."""
    values = config.values.get("cluster", {}) if config else {}
    address = on or values.get("on", "")
    if not on and config and address.startswith("folder:"):
        address = f"folder:{config.resolve(address.removeprefix('folder:'))}"
    return ClusterSettings(
        "" if address == HERE else address, values.get("lease", LEASE), values.get("portion", PORTION)
    )
