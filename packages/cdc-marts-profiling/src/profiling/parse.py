"""The time of a parse of messages, without writing, and the parts of Spark that take it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from statistics import median

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks import baselines, project
from benchmarks.full import BASELINE
from benchmarks.landing import land
from benchmarks.measure import measured
from benchmarks.workload import Workload
from cdc_marts.parsing.settings import declared_keys
from cdc_marts.relations import OWN
from profiling.profiler import Profiler, Stack

PARSER = "parser"
#: Parses before the first measured one: Java's compilers learn from them.
_WARM_UPS = 4
#: Part of the parse -> texts in the names of its frames in Spark or Java. A call stack belongs to
#: the part of its innermost frame that has a part.
PARTS: dict[str, tuple[str, ...]] = {
    "landing table: reading Parquet": ("org/apache/parquet", "org/apache/iceberg"),
    "message: JSON or Avro": ("JsonToStructs", "AvroDataToCatalyst", "VariantBuilder.parseJson"),
    "VARIANTs: casts to texts, numbers, maps": ("expressions/variant/VariantGet",),
    "VARIANTs: types of their values": ("SchemaOfVariant",),
    "VARIANTs: images built from columns": ("VariantExpressionEvalUtils", "ToVariantObject"),
    "JSON text: row keys and placeholders": ("StructsToJson",),
    "texts: search by patterns": ("java/util/regex",),
    "texts: search for placeholders": ("ByteArrayMethods.contains",),
    "texts: check of UTF-8": ("UTF8String.isValid", "UTF8String.getIsValid"),
    "names of columns: sets and maps": (
        *("ArrayExcept", "ArrayIntersect", "ArrayUnion", "ArrayDistinct", "ArraysZip"),
        *("SortArray", "MapConcat", "MapFromArrays", "MapFromEntries", "ArrayBasedMapBuilder"),
    ),
    "hashes: ids and schemas": ("DigestUtils", "XXH64"),
    "other expressions that Spark interprets": (".eval",),
    "compiled loops, and copies of rows": ("GeneratedClass",),
}
OTHER = "other"


@dataclass
class Parse:
    """The repeated measurements of one format, of the parser and of the baseline's parse."""

    source_format: str
    messages: int
    #: parser or baseline -> processor seconds of all tasks
    seconds: dict[str, list[float]] = field(default_factory=dict)
    #: parser or baseline -> part -> samples
    samples: dict[str, Counter[str]] = field(default_factory=dict)

    def seconds_of(self, what: str, messages: int) -> float:
        """Return the median of the processor seconds for so many messages."""
        return median(self.seconds[what]) * messages / self.messages

    def share_of(self, what: str, part: str) -> float:
        """Return the share of a part among the samples."""
        samples = self.samples[what]
        return samples[part] / samples.total()


def measure_parse(
    session: SparkSession,
    profiler: Profiler,
    source_format: str,
    workload: Workload,
    repeat: int,
    say: Callable[[str], None] = print,
) -> Parse:
    """Land a workload, and parse it `repeat` times with the parser and with the baseline."""
    project.empty(session)
    parse = Parse(source_format, land(session, source_format, workload))
    say(f"{source_format}: {parse.messages:,} messages")
    messages = session.table(OWN.landed(source_format)).withColumn(
        "landing_commit", F.lit(1).cast("bigint")
    )
    keys = declared_keys(project.declared_tables(workload), source_format)
    parser = import_module(f"cdc_marts.formats.{source_format}")
    rows_of = {
        PARSER: parser.parse(messages, key_settings=keys),
        BASELINE: baselines.events(source_format, messages),
    }
    for what, rows in rows_of.items():
        for _ in range(_WARM_UPS):
            _read(rows)
        with profiler.sampled() as stacks:
            parse.seconds[what] = [_processor_seconds(session, rows) for _ in range(repeat)]
        parse.samples[what] = samples_by_part(stacks.items())
    return parse


def samples_by_part(stacks: Iterable[tuple[Stack, int]]) -> Counter[str]:
    """Return part of the parse -> samples, from call stacks with their numbers of samples."""
    samples: Counter[str] = Counter()
    for stack, count in stacks:
        samples[_part_of(stack)] += count
    return samples


def _part_of(stack: Stack) -> str:
    for frame in reversed(stack):
        for part, names in PARTS.items():
            if any(name in frame for name in names):
                return part
    return OTHER


def _processor_seconds(session: SparkSession, rows: DataFrame) -> float:
    with measured(session) as cost:
        _read(rows)
    assert cost.spark is not None
    return cost.spark.processor_seconds


def _read(rows: DataFrame) -> None:
    rows.write.format("noop").mode("overwrite").save()
