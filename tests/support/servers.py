"""Wait for servers that tests start."""

import subprocess
import time
import urllib.request
from pathlib import Path

PATIENCE = 60  # seconds


def wait(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Wait until a server answers at an address."""
    end = time.monotonic() + PATIENCE
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < end and server.poll() is None:
        try:
            with opener.open(url, timeout=5):
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"the server does not start:\n{log.read_text(errors='replace')}")
