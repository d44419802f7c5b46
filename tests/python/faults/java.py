"""The JVM of a process."""

from __future__ import annotations

import subprocess

import psutil


def java_of(process: subprocess.Popen[bytes]) -> psutil.Process | None:
    """The JVM of a process, None while it has none."""
    try:
        children = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return None
    return next((child for child in children if child.name() == "java"), None)
