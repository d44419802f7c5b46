"""What the JVM's processors do while the models are built, and while the baseline is.

Stacks are sampled (async-profiler), and each counts for the part of the work
that its innermost known frame belongs to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import psutil
from dbt.adapters.spark_session.api import java_class
from pyspark.sql import SparkSession

from benchmarks import baselines, full, project
from benchmarks.baselines import job
from benchmarks.landing import land
from benchmarks.workload import Workload
from cdc_marts.relations import OWN

#: Its jar brings the native libraries along.  Source: async-profiler, "Java API".
PROFILER = "tools.profiler:async-profiler:4.6"

#: Part of the work -> what names a frame of it, in a task of Spark.
TASK_PARTS = {
    "JSON into rows and VARIANTs": r"JsonToStructsEvaluator|VariantBuilder\.parseJson",
    "Avro into rows": r"AvroDataToCatalyst",
    "bytes: are they UTF-8": r"UTF8String\.\w*[iI]sValid",
    "bytes: may they hold placeholders": r"ByteArrayMethods\.contains",
    "VARIANTs into columns": r"variant/VariantGet",
    "columns into VARIANTs": r"VariantExpressionEvalUtils\$?\.(castTo|build)Variant",
    "keys and images into JSON": r"StructsToJsonEvaluator",
    "hashes": r"DigestUtils|XXH64|MessageDigest",
    "lambdas over arrays and maps": r"/(Array(Transform|Exists|Filter)|MapFilter|ZipWith)\b",
    "names of columns, compared": r"expressions/Array(Except|Distinct|Union|Contains|Position)",
    "Parquet written": r"(parquet|iceberg)/.*Writer",
    "Parquet read": r"(parquet|iceberg)/.*Reader|DataSourceRDD",
    "sorts, shuffles, joins, groups": r"shuffle/|collection/unsafe/sort|UnsafeExternalSorter|Sorter"
    r"|aggregate/|joins/|BytesToBytesMap|hash/",
    "the rest of the loops: checks, copies": r"GeneratedClass",
    "the rest of the tasks": r"Executor\$TaskRunner\.run",
}
#: The same outside of tasks; what no name fits is the driver's.
JAVA_PARTS = {
    "Java: compiles": r"CompileBroker",
    "Java: collects garbage": r"G1|GangWorker|VM_Operation|VMThread",
}
DRIVER = "driver: plans, asks the catalog, commits"
PARTS = (*TASK_PARTS, *JAVA_PARTS, DRIVER)

_IN_TASK = re.compile(TASK_PARTS["the rest of the tasks"])


@dataclass(frozen=True)
class Profile:
    """Processor seconds of the JVM, by part of the work."""

    source_format: str
    workload: Workload
    #: What was built (`full.MODELS`, `full.BASELINE`) -> part of the work -> seconds of one time.
    seconds: dict[str, dict[str, float]]


def measure_profile(
    session: SparkSession,
    source_format: str,
    workload: Workload,
    repeat: int,
    say: Callable[[str], None] = print,
) -> Profile:
    """Land a workload; build everything from it, and the baseline, `repeat` times each.

    The session must have been opened with `PROFILER`.
    """
    project.empty(session)
    land(session, source_format, workload)
    messages = session.table(OWN.landed(source_format))

    def build_baseline() -> None:
        job.write_change_events(baselines.events(source_format, messages))
        job.write_latest_state(session)

    def build_models() -> None:
        project.run_models(session, workload)

    builds = {full.MODELS: build_models, full.BASELINE: build_baseline}
    profile = Profile(source_format, workload, {})
    for what, build in builds.items():
        say(f"{source_format}: {what}, {repeat} times")
        samples: Counter[str] = Counter()
        spent = 0.0
        for _ in range(repeat):
            project.unbuild(session)
            with _profiled(session) as one:
                build()
            samples += one.samples
            spent += one.seconds
        by_sample = spent / repeat / samples.total()
        profile.seconds[what] = {part: samples[part] * by_sample for part in PARTS}
    return profile


@dataclass
class _Sampled:
    """Filled when the work is done."""

    samples: Counter[str]
    seconds: float = 0


@contextmanager
def _profiled(session: SparkSession) -> Iterator[_Sampled]:
    """Samples of the JVM's stacks, by part, and its processor seconds."""
    profiler = java_class(session, "one.profiler.AsyncProfiler").getInstance()
    java = psutil.Process(java_class(session, "java.lang.ProcessHandle").current().pid())
    sampled = _Sampled(Counter())
    before = java.cpu_times()
    profiler.execute("start,event=ctimer,interval=10ms,threads")
    try:
        yield sampled
    finally:
        profiler.execute("stop")
    after = java.cpu_times()
    sampled.seconds = after.user + after.system - before.user - before.system
    sampled.samples = parts_of(profiler.execute("collapsed,threads"))


def parts_of(collapsed: str) -> Counter[str]:
    """Sampled stacks, `frame;frame;… samples` a line from the outermost -> samples by part."""
    samples: Counter[str] = Counter()
    for line in collapsed.splitlines():
        stack, _, number = line.rpartition(" ")
        samples[_part_of(stack)] += int(number)
    return samples


def _part_of(stack: str) -> str:
    part_of = _task_part if _IN_TASK.search(stack) else _java_part
    parts = (part_of(frame) for frame in reversed(stack.split(";")))
    return next(filter(None, parts), DRIVER)


# Frames come many times over.
@cache
def _task_part(frame: str) -> str | None:
    return _named(frame, TASK_PARTS)


@cache
def _java_part(frame: str) -> str | None:
    return _named(frame, JAVA_PARTS)


def _named(frame: str, parts: Mapping[str, str]) -> str | None:
    return next((part for part, names in parts.items() if re.search(names, frame)), None)
