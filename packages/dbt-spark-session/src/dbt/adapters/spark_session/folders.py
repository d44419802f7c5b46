"""Folders for the files of a process other than tables."""

from __future__ import annotations

import os
from pathlib import Path


def work_dir(home: Path | None) -> Path:
    """Return the folder of the Java launcher and of Spark's log, which processes may share.

    It is `home`, the folder of an embedded catalog, or a folder in the user's own cache.
    """
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return home or Path(caches) / "spark-session"


def log_file(home: Path | None) -> Path:
    """Return the path of Spark's own log, for the driver."""
    return work_dir(home) / "spark.log"
