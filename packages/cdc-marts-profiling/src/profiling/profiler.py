"""Call stacks of Java's threads, sampled by async-profiler, to see where processor time goes."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbt.adapters.spark_session.api import IVY_CACHE, jar_paths
from pyspark.sql import SparkSession

_PACKAGE = "tools.profiler:async-profiler:4.0"
#: Timers of the processor, which need no permissions in Linux; one sample per millisecond.
_SAMPLING = "event=ctimer,interval=1ms"
_TASK = "org/apache/spark/executor/Executor$TaskRunner.run"

#: The frames of a call stack, from the outermost to the innermost one.
Stack = tuple[str, ...]


class Profiler:
    """async-profiler, loaded into the Java process of a session. A process loads it once."""

    def __init__(self, session: SparkSession) -> None:
        context: Any = session.sparkContext
        [jar] = jar_paths([_PACKAGE], IVY_CACHE)
        java = context._jvm.java
        new_array = context._gateway.new_array
        urls = new_array(java.net.URL, 1)
        urls[0] = java.io.File(str(jar)).toURI().toURL()
        # The jar brings the library of each system, and its class loads the right one.
        agent = java.net.URLClassLoader(urls).loadClass("one.profiler.AsyncProfiler")
        get_instance = agent.getMethod("getInstance", new_array(java.lang.Class, 0))
        self._agent: Any = get_instance.invoke(None, new_array(java.lang.Object, 0))

    @contextmanager
    def sampled(self) -> Iterator[Counter[Stack]]:
        """Yield the call stacks of the tasks that run in the block, with their numbers of samples.

        They are filled after the block.
        """
        stacks: Counter[Stack] = Counter()
        with self._sampling(_SAMPLING) as samples:
            yield stacks
        for stack, count in samples:
            if _TASK in stack:
                stacks[stack] += count

    @contextmanager
    def sampled_threads(self) -> Iterator[Counter[str]]:
        """Yield the names of Java's threads, with their numbers of samples.

        They are filled after the block.
        """
        threads: Counter[str] = Counter()
        with self._sampling(f"{_SAMPLING},threads") as samples:
            yield threads
        for stack, count in samples:
            threads[stack[0].removeprefix("[")] += count

    @contextmanager
    def _sampling(self, options: str) -> Iterator[list[tuple[Stack, int]]]:
        samples: list[tuple[Stack, int]] = []
        with tempfile.TemporaryDirectory() as folder:
            dump = Path(folder) / "stacks.collapsed"
            self._agent.execute(f"start,{options}")
            try:
                yield samples
            finally:
                self._agent.execute(f"stop,collapsed,file={dump}")
            for line in dump.read_text("utf-8", errors="replace").splitlines():
                stack, _, count = line.rpartition(" ")
                samples.append((tuple(stack.split(";")), int(count)))
