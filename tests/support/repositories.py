"""Create git repositories for tests."""

from __future__ import annotations

import subprocess
from pathlib import Path


def run_git(folder: Path, *arguments: str) -> None:
    """Run git in a folder with a test identity."""
    identity = ["-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def commit_folder(folder: Path, message: str) -> None:
    """Turn a folder into a repository and commit everything."""
    run_git(folder, "init", "-q")
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-q", "-m", message)
