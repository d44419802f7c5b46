"""Ways to lay out the two tables that cost most, side by side: the log of records, and the state.

Each layout is a copy of what the project has built, written in another way, and
read by what reads the table in the project.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dbt.adapters.spark_session.api import iceberg_table
from pyspark.sql import SparkSession

from benchmarks import project
from benchmarks.landing import land
from benchmarks.measure import table_bytes
from benchmarks.queries import REPETITIONS, a_row, repeated_seconds, seconds_of
from benchmarks.workload import Workload

NAMESPACE = project.LAYOUT
WRITE, MERGE = "write", "merge"

#: Merges into the state, each of one key in a hundred.
_MERGES = 5


@dataclass(frozen=True)
class Layout:
    """A table's partitions, order and properties; what is not said is as the project has it."""

    name: str
    partitions: str | None = None
    order: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


LOG_LAYOUTS = (
    Layout("as built"),
    Layout("not partitioned", ""),
    Layout("partitioned by table", "record_type, table_id"),
    Layout("partitioned by hour", "record_type, hours(event_at)"),
    Layout("files sorted by table and time", order="table_id, event_at"),
    Layout(
        "ranges of table and time",
        order="table_id, event_at",
        properties={"write.distribution-mode": "range"},
    ),
    Layout("row groups of 128 MiB", properties={"write.parquet.row-group-size-bytes": "134217728"}),
    Layout("VARIANT shredded", properties={"write.parquet.shred-variants": "true"}),
    Layout("snappy", properties={"write.parquet.compression-codec": "snappy"}),
    Layout("gzip", properties={"write.parquet.compression-codec": "gzip"}),
)
_COPY_ON_WRITE = {"write.merge.mode": "copy-on-write"}
STATE_LAYOUTS = (
    Layout("as built"),
    Layout("copy on write", properties=_COPY_ON_WRITE),
    Layout("16 buckets of the key", "bucket(16, row_key)"),
    Layout("16 buckets of the key, copy on write", "bucket(16, row_key)", None, _COPY_ON_WRITE),
    Layout("sorted by key", order="source_format, table_id, row_key"),
)

_LOG_QUERIES = {
    "effects' columns": (
        "select max(struct(source_format, table_id, row_key, op, event_id, schema_id, event_at,"
        " sequence)) from {log} where record_type = 'change'"
    ),
    "all images": "select count(after:note::string) from {log} where record_type = 'change'",
    "one column of the images": (
        "select max(after:status::string) from {log} where record_type = 'change'"
    ),
    "a table's events": (
        "select count(after) from {log} where record_type = 'change' and table_id = '{table}'"
    ),
    "a minute's events": (
        "select count(after) from {log} where record_type = 'change'"
        " and event_at between timestamp'{time}' - interval 1 minute and timestamp'{time}'"
    ),
}
_STATE_QUERIES = {
    "all rows": "select count(`row`:note::string) from {state}",
    "a row": "select count(`row`) from {state} where table_id = '{table}' and row_key = '{key}'",
}


@dataclass
class Layouts:
    """What each layout of a table takes."""

    title: str
    #: layout -> what -> seconds of each repetition
    seconds: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    #: layout -> bytes that were written in all
    written: dict[str, int] = field(default_factory=dict)
    #: layout -> data files at the end
    files: dict[str, int] = field(default_factory=dict)

    def note(self, layout: Layout, what: str, seconds: float) -> None:
        self.seconds.setdefault(layout.name, {}).setdefault(what, []).append(seconds)


def measure_layouts(
    session: SparkSession,
    source_format: str,
    workload: Workload,
    say: Callable[[str], None] = print,
) -> list[Layouts]:
    """Build a workload, and from it each layout of the log and of the state."""
    project.empty(session)
    land(session, source_format, workload)
    say(f"{source_format}: {workload.changes:,} changes")
    project.run_models(session, workload)
    row = a_row(session)
    log = Layouts(f"The log, {workload.changes:,} changes of {workload.tables} tables")
    built = f"staging.stg_{source_format}"
    # The first one once more before all: what it takes is Java's warming up.
    _measure_log(session, Layouts(log.title), LOG_LAYOUTS[0], built, row)
    for layout in LOG_LAYOUTS:
        say(f"{log.title}: {layout.name}")
        _measure_log(session, log, layout, built, row)
    state = Layouts(f"The state, {workload.keys:,} rows of {workload.tables} tables")
    built = "intermediate.int_row_state"
    _measure_state(session, Layouts(state.title), STATE_LAYOUTS[0], built, row)
    for layout in STATE_LAYOUTS:
        say(f"{state.title}: {layout.name}")
        _measure_state(session, state, layout, built, row)
    return [log, state]


def _measure_log(
    session: SparkSession, log: Layouts, layout: Layout, built: str, row: Mapping[str, str]
) -> None:
    name = f"{NAMESPACE}.log"
    for _ in range(REPETITIONS):
        _create(session, name, built, layout)
        log.note(layout, WRITE, seconds_of(session, f"insert into {name} select * from {built}"))
    _ask(session, log, layout, _LOG_QUERIES, {"log": name, **row})
    _note_size(session, log, layout, name)


def _measure_state(
    session: SparkSession, state: Layouts, layout: Layout, built: str, row: Mapping[str, str]
) -> None:
    name = f"{NAMESPACE}.state"
    _create(session, name, built, layout)
    state.note(layout, WRITE, seconds_of(session, f"insert into {name} select * from {built}"))
    for number in range(_MERGES):
        state.note(layout, MERGE, seconds_of(session, _merge_sql(name, built, number)))
    _ask(session, state, layout, _STATE_QUERIES, {"state": name, **row})
    _note_size(session, state, layout, name)


def _create(session: SparkSession, name: str, built: str, layout: Layout) -> None:
    """An empty table with the columns of `built`."""
    session.sql(f"drop table if exists {name} purge")
    table = iceberg_table(session, built)
    properties = {
        key: value for key, value in dict(table.properties()).items() if key.startswith("write.")
    } | dict(layout.properties)
    partitions = layout.partitions
    if partitions is None:
        fields = table.spec().fields()
        partitions = ", ".join(fields[index].name() for index in range(fields.size()))
    partitioned = f"partitioned by ({partitions})" if partitions else ""
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    with_properties = f"tblproperties ({listed})" if listed else ""
    session.sql(
        f"create table {name} using iceberg {partitioned} {with_properties}"
        f" as select * from {built} where false"
    )
    if layout.order:
        is_range = properties.get("write.distribution-mode") == "range"
        clause = "ordered by" if is_range else "locally ordered by"
        session.sql(f"alter table {name} write {clause} {layout.order}")


def _merge_sql(name: str, built: str, number: int) -> str:
    return f"""
        merge into {name} as held
        using (
            select * except (last_sequence), named_struct(
                'position', last_sequence.position + 1 + {number},
                'transaction_index', last_sequence.transaction_index,
                'partition', last_sequence.partition,
                'offset', last_sequence.offset,
                'row_index', last_sequence.row_index
            ) as last_sequence
            from {built}
            where pmod(xxhash64(row_key), 100) = {number}
        ) as batch
        on held.source_format = batch.source_format
            and held.table_id = batch.table_id
            and held.row_key = batch.row_key
        when matched and batch.last_sequence > held.last_sequence then update set *
        when not matched then insert *
    """


def _ask(
    session: SparkSession,
    layouts: Layouts,
    layout: Layout,
    queries: Mapping[str, str],
    names: Mapping[str, str],
) -> None:
    for what, query in queries.items():
        for seconds in repeated_seconds(session, query.format(**names)):
            layouts.note(layout, what, seconds)


def _note_size(session: SparkSession, layouts: Layouts, layout: Layout, name: str) -> None:
    layouts.written[layout.name] = table_bytes(session, name)
    layouts.files[layout.name] = session.table(f"{name}.files").count()
