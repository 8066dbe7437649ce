"""Run git."""

from __future__ import annotations

import subprocess
from pathlib import Path


def run_git(root: Path, *arguments: str) -> bytes | None:
    """Run git in the folder `root` and return its output; None if it fails or is not installed."""
    try:
        process = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)
    except OSError:
        return None
    return process.stdout if process.returncode == 0 else None
