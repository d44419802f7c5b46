"""Where a process keeps what it needs beside the tables."""

from __future__ import annotations

import os
from pathlib import Path


def work_dir(home: Path | None) -> Path:
    """Folder of the Java launcher and of Spark's log, which processes may share.

    It is `home`, that of an embedded catalog, or one in the user's own cache.
    """
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return home or Path(caches) / "spark-session"


def log_file(home: Path | None) -> Path:
    """Spark's own log, of the driver."""
    return work_dir(home) / "spark.log"
