"""The memory of a process and of its children, minute by minute."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import median

import psutil

from tests.python.faults.java import java_of

#: What is measured of a process tree.
KINDS = ("python", "java", "live")
#: Fewer samples of a process say nothing of how its memory grows.
FEWEST_SAMPLES = 9

_TOTAL = re.compile(r"^Total +\d+ +(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Sample:
    """Bytes that a process tree has in memory at a time, in seconds from the start."""

    pid: int
    at: float
    #: of the Java process
    java: int
    #: of the others
    python: int
    #: what Java's heap holds after a full collection; None where it was not asked
    live: int | None = None


class Memory:
    """Samples of a process tree, taken in a thread of its own as long as the block runs."""

    def __init__(self, every: float, live_every: int) -> None:
        """`every`: seconds; every `live_every`-th sample asks Java for what lives in its heap."""
        self.samples: list[Sample] = []
        self.process: subprocess.Popen[bytes] | None = None
        self._every, self._live_every = every, live_every
        self._began = time.monotonic()
        self._error: BaseException | None = None
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._sample_all, name="memory")

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._is_over.set()
        self._thread.join()
        if self._error is not None and kind is None:
            raise self._error

    def _sample_all(self) -> None:
        try:
            count = 0
            while not self._is_over.wait(self._every):
                count += 1
                # A process that is killed has no memory.
                with suppress(psutil.NoSuchProcess):
                    self._sample(with_live=count % self._live_every == 0)
        except BaseException as error:
            self._error = error

    def _sample(self, with_live: bool) -> None:
        process = self.process
        java = java_of(process) if process is not None else None
        if process is None or java is None:
            return
        root = psutil.Process(process.pid)
        tree = {child.pid: child.memory_info().rss for child in root.children(recursive=True)}
        of_java = tree.pop(java.pid)
        others = sum(tree.values()) + root.memory_info().rss
        live = _live_bytes(java.pid) if with_live else None
        at = time.monotonic() - self._began
        self.samples.append(Sample(process.pid, at, of_java, others, live))


def later_medians(samples: Sequence[Sample], kind: str) -> tuple[float, float] | None:
    """Medians of the second and the last third of the last process's time, in bytes.

    In the first third a process grows to the size that its work needs.  None where there are too
    few samples.
    """
    last = [sample for sample in samples if sample.pid == samples[-1].pid]
    if len(last) < FEWEST_SAMPLES:
        return None
    third = len(last) // 3
    second, rest = (
        [value for value in (getattr(sample, kind) for sample in part) if value is not None]
        for part in (last[third : 2 * third], last[2 * third :])
    )
    return (median(second), median(rest)) if second and rest else None


def _live_bytes(pid: int) -> int | None:
    """None where the process has just ended."""
    home = os.environ.get("JAVA_HOME")
    jcmd = shutil.which("jcmd", path=f"{home}/bin" if home else None) or shutil.which("jcmd")
    assert jcmd, "what lives in the heap is asked by jcmd, which a JDK has"
    answer = subprocess.run(
        [jcmd, str(pid), "GC.class_histogram"], capture_output=True, text=True, check=False
    )
    found = _TOTAL.search(answer.stdout)
    return int(found[1]) if found else None
