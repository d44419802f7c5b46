"""DataHub TUPLE topics: one row per record, with metadata in columns beside the row's own.

Sources: DataWorks, "Appendix: DataHub message formats", Tuple; DTS, "Modify the naming rules
for additional columns".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from dbt_common.exceptions import CompilationError
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.formats.streamx.envelope import (
    identity,
    is_bad_sequence_id,
    pairing_id,
    record_kind,
)
from cdc_marts.parsing.images import image_of, row_or_null
from cdc_marts.parsing.messages import (
    LANDED_COLUMNS,
    Check,
    read_json_columns,
    rejection,
    unknown_op,
)
from cdc_marts.parsing.ops import meaning_of
from cdc_marts.parsing.records import Record, to_staging
from cdc_marts.parsing.settings import KeySettings, key_columns_of
from cdc_marts.parsing.tables import table_id_of
from cdc_marts.parsing.values import (
    is_bad_millis,
    non_empty,
    position,
    timestamp_of_millis,
)

SOURCE_FORMAT = "datahub_tuple"

#: The code for the row before an update in the code table. Its published operation is U too.
_UPDATE_BEFORE = "U (before image)"
_LONGEST_NAME = 2**31 - 1


@dataclass(frozen=True)
class Dialect:
    """The names that a producer gives its metadata columns."""

    #: Meaning of the metadata -> its names. The first one that a tuple has counts.
    names: dict[str, tuple[str, ...]]
    #: The metadata that each tuple of this dialect needs.
    required: tuple[str, ...]
    #: The metadata that a tuple does not need, but nearly always has.
    usual: tuple[str, ...] = ("time",)
    #: The prefix that the producer gives the names of the row's own columns.
    column_prefix: str = ""

    @property
    def metadata_names(self) -> list[str]:
        return [name for names in self.names.values() for name in names]


def _dts(metadata_prefix: str, column_prefix: str) -> Dialect:
    names = {
        "sequence_id": "dts_record_id",
        "operation": "dts_operation_flag",
        "time": "dts_utc_timestamp",
        "instance": "dts_instance_id",
        "database": "dts_db_name",
        "table": "dts_table_name",
        "before_flag": "dts_before_flag",
        "after_flag": "dts_after_flag",
    }
    return Dialect(
        names={meaning: (metadata_prefix + name,) for meaning, name in names.items()},
        required=("sequence_id", "operation", "database", "table", "before_flag", "after_flag"),
        usual=("time", "instance"),
        column_prefix=column_prefix,
    )


#: Name in the settings of a project -> dialect, in the order in which they are tried.
DIALECTS = {
    "dataworks": Dialect(
        names={
            "sequence_id": ("_sequence_id_",),
            "operation": ("_operation_type_",),
            "time": ("_excute_time_", "_execute_time_"),
            "instance": (),
            "database": (),
            # Topics of real-time synchronisation may lack it, because each has only one table.
            "table": ("_source_table_",),
            "before_flag": ("_before_image_",),
            "after_flag": ("_after_image_",),
        },
        required=("sequence_id", "operation", "before_flag", "after_flag"),
    ),
    "dts_old": _dts("", column_prefix="dts_"),
    "dts_new": _dts("new_dts_sync_", column_prefix=""),
}


@dataclass(frozen=True)
class TopicSettings:
    """The settings of a topic, for facts that its tuples do not contain."""

    #: The database of its tables, if the tuples name none.
    database: str | None = None
    #: The dialect of its tuples.
    dialect: str | None = None


_SETTINGS = tuple(field.name for field in fields(TopicSettings))


def check_topics(topics: Any) -> None:
    """Raise CompilationError if the var `datahub_topics` is wrong.

    It maps each topic to the database of its tables, to the dialect of its tuples, or to both.
    """
    topics = topics or {}
    if not isinstance(topics, Mapping):
        raise _wrong_topics(
            "it is not a mapping: write {my_project.my_topic: {database: my_database}}"
        )
    for topic, settings in topics.items():
        if not isinstance(settings, Mapping) or not settings.keys() <= set(_SETTINGS):
            names = " and ".join(f"`{name}`" for name in _SETTINGS)
            raise _wrong_topics(f"the topic `{topic}` has {settings}; its settings are {names}")
        if "database" in settings and not _is_name(settings["database"]):
            raise _wrong_topics(
                f"the database of the topic `{topic}` is no name: {settings['database']}"
            )
        if "dialect" in settings and settings["dialect"] not in list(DIALECTS):
            raise _wrong_topics(
                f"the dialect of the topic `{topic}` is none of {', '.join(DIALECTS)}:"
                f" {settings['dialect']}"
            )


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _wrong_topics(problem: str) -> CompilationError:
    return CompilationError(f"In `vars: datahub_topics` of dbt_project.yml: {problem}.")


def declared_topics(topics: Mapping[str, Mapping[str, str]] | None) -> dict[str, TopicSettings]:
    """Return the settings in the var `datahub_topics`, which is checked when a run starts."""
    return {topic: TopicSettings(**settings) for topic, settings in (topics or {}).items()}


def parse(
    messages: DataFrame,
    key_settings: KeySettings | None = None,
    topics: Mapping[str, TopicSettings] | None = None,
) -> DataFrame:
    """Turn landed DataHub tuples into staging rows, one per message.

    `key_settings`: table_id -> key columns, because a tuple does not name the key of its table.
    `topics`: topic -> its settings in the project.
    """
    settings = topics or {}
    named = _named(_read_tuples(messages, settings), settings)
    known = named.select("*", *record_kind(F.col("meaning"), F.col("sequence_id")))
    keyed = known.select(
        "*",
        key_columns_of(
            F.lit(None).cast("array<string>"),
            key_settings,
            table_id_of("database_name", "table_name"),
        ).alias("key_columns"),
    )
    return to_staging(keyed, SOURCE_FORMAT, _record())


def _read_tuples(messages: DataFrame, settings: Mapping[str, TopicSettings]) -> DataFrame:
    """Read tuples: their dialect, their metadata, and the columns of their row."""
    recognized = read_json_columns(messages).select("*", _dialect(settings).alias("dialect"))
    return recognized.select(
        *LANDED_COLUMNS,
        "value",
        "unreadable",
        "dialect",
        _per_dialect(_metadata).alias("metadata"),
        _per_dialect(_row_columns).alias("columns"),
        _per_dialect(_has_one_column_twice).alias("has_one_column_twice"),
    )


def _named(tuples: DataFrame, settings: Mapping[str, TopicSettings]) -> DataFrame:
    """Give the metadata the names that staging has, and make an image of the row."""
    return tuples.select(
        "*",
        F.coalesce(non_empty(F.col("metadata.database")), _setting(settings, "database")).alias(
            "database_name"
        ),
        F.lit(None).cast("string").alias("schema_name"),
        F.coalesce("metadata.table", _table_of_topic()).alias("table_name"),
        non_empty(F.col("metadata.sequence_id")).alias("sequence_id"),
        _op_code().alias("op_code"),
        meaning_of(_op_code(), SOURCE_FORMAT).alias("meaning"),
        _millis(F.col("metadata.time")).alias("time"),
        image_of(row_or_null(F.col("columns"))).alias("image"),
    )


def _record() -> Record:
    """Return the record of a tuple with its kind and its key."""
    row = row_or_null(F.col("columns"))
    is_half = (F.col("record_type") == "update_before") | (F.col("op") == "update")
    return Record(
        rejection=F.coalesce("unreadable", _broken()),
        record_type=F.col("record_type"),
        database_name=F.col("database_name"),
        table_name=F.col("table_name"),
        op=F.col("op"),
        source_op=F.col("metadata.operation"),
        key_columns=F.col("key_columns"),
        before=F.when(F.col("needs_before"), F.col("image")),
        after=F.when(F.col("needs_after"), F.col("image")),
        columns_before=F.when(F.col("needs_before"), row),
        columns_after=F.when(F.col("needs_after"), row),
        event_at=timestamp_of_millis(F.col("time")),
        position=position(F.col("sequence_id")),
        identity=identity(F.col("op_code"), F.col("image")),
        pairing_id=F.when(is_half, _pairing_id()),
        is_truncation=F.col("meaning.is_truncation"),
    )


def _pairing_id() -> Column:
    """Return an id that both halves of an update have, and no other update has.

    Two DTS tasks may give their records the same ids, so the time and the instance belong to it.
    DataWorks says only that the halves share the sequence id.
    """
    is_of_dts = F.col("dialect").isin("dts_old", "dts_new")
    time_and_instance = (
        F.when(is_of_dts, value) for value in (F.col("time"), non_empty(F.col("metadata.instance")))
    )
    return F.concat_ws(":", pairing_id(SOURCE_FORMAT), *time_and_instance)


def _dialect(topics: Mapping[str, TopicSettings]) -> Column:
    """Return the dialect that is set for the topic, or else the first whose names all exist.

    If no dialect is complete, return the one that lacks the fewest names; null if there is no name
    of any. Names of one dialect may be columns of the row in another.
    """
    present = F.map_keys("message")

    def has_any_of(names: Iterable[str]) -> Column:
        return F.arrays_overlap(present, F.array(*map(F.lit, names)))

    def lacking(dialect: Dialect, meanings: tuple[str, ...]) -> Column:
        absent = (~has_any_of(dialect.names[meaning]) for meaning in meanings)
        return sum((is_absent.cast("int") for is_absent in absent), start=F.lit(0))

    candidates = (
        F.when(
            has_any_of(dialect.metadata_names),
            F.struct(
                lacking(dialect, dialect.required).alias("required"),
                lacking(dialect, dialect.usual).alias("usual"),
                F.lit(rank).alias("rank"),
                F.lit(name).alias("name"),
            ),
        )
        for rank, (name, dialect) in enumerate(DIALECTS.items())
    )
    is_read = F.col("message").isNotNull()
    return F.when(is_read, F.coalesce(_setting(topics, "dialect"), F.least(*candidates)["name"]))


def _setting(topics: Mapping[str, TopicSettings], member: str) -> Column:
    """Return a member of the settings of a topic; null if it is not set."""
    settings = {
        topic: value
        for topic, of_topic in topics.items()
        if (value := getattr(of_topic, member)) is not None
    }
    if not settings:
        return F.lit(None).cast("string")
    return F.create_map(*(F.lit(text) for pair in settings.items() for text in pair))[
        F.col("topic")
    ]


def _table_of_topic() -> Column:
    """Return the last part of `project.topic`."""
    return F.substring_index("topic", ".", -1)


def _per_dialect(reading: Callable[[Dialect], Column]) -> Column:
    return F.coalesce(
        *(F.when(F.col("dialect") == name, reading(dialect)) for name, dialect in DIALECTS.items())
    )


def _metadata(dialect: Dialect) -> Column:
    """Return the metadata as a struct of texts, which is the same for all dialects."""
    return F.struct(
        *(
            F.coalesce(
                *(F.when(_is_metadata(F.lit(name), dialect), _text(name)) for name in names),
                F.lit(None).cast("string"),
            ).alias(meaning)
            for meaning, names in dialect.names.items()
        )
    )


def _is_metadata(name: Column, dialect: Dialect) -> Column:
    """Return whether a column is metadata; false for a second name if the first exists too."""
    is_metadata = name.isin(*(names[0] for names in dialect.names.values() if names))
    for first, *others in filter(None, dialect.names.values()):
        if others:
            is_metadata |= name.isin(others) & ~F.map_contains_key("message", first)
    return is_metadata


def _lacking(dialect: Dialect) -> Column:
    """Return the names of required metadata that is missing."""
    names = (
        F.when(non_empty(F.col("metadata")[meaning]).isNull(), dialect.names[meaning][0])
        for meaning in dialect.required
    )
    return F.array_except(F.array(*names), F.array(F.lit(None).cast("string")))


def _name_of(meaning: str) -> Column:
    """Return the name of this metadata in the dialect of the tuple."""
    return _per_dialect(lambda dialect: F.lit(dialect.names[meaning][0]))


def _text(name: str) -> Column:
    return F.col("message")[name].try_cast("string")


def _row_columns(dialect: Dialect) -> Column:
    """Return the row's own columns with their names at the source."""
    prefix = dialect.column_prefix
    columns = F.map_filter("message", lambda name, _: ~_is_metadata(name, dialect))
    if not prefix:
        return columns
    return F.transform_keys(
        columns,
        lambda name, _: F.when(
            name.startswith(prefix), F.substring(name, len(prefix) + 1, _LONGEST_NAME)
        ).otherwise(name),
    )


def _has_one_column_twice(dialect: Dialect) -> Column:
    """Return whether a column comes both with the prefix and without it."""
    prefix = dialect.column_prefix
    if not prefix:
        return F.lit(False)
    return F.exists(
        F.map_keys("message"),
        lambda name: (
            ~name.startswith(prefix)
            & F.map_contains_key("message", F.concat(F.lit(prefix), name))
            & ~_is_metadata(F.concat(F.lit(prefix), name), dialect)
        ),
    )


def _op_code() -> Column:
    """Return the operation. The two rows of an update have the same one, and other flags."""
    operation = F.col("metadata.operation")
    is_before = (operation == "U") & (F.col("metadata.before_flag") == "Y")
    return F.when(is_before, _UPDATE_BEFORE).when(operation != _UPDATE_BEFORE, operation)


def _millis(time: Column) -> Column:
    """Return milliseconds: the time of DTS comes from the log, where ten digits are seconds."""
    is_seconds = F.col("dialect").isin("dts_old", "dts_new") & time.rlike("^[0-9]{10}$")
    return F.when(is_seconds, F.concat(time, F.lit("000"))).otherwise(time)


def _broken() -> Column:
    return rejection(*_checks_of_metadata(), *_checks_of_image())


def _checks_of_metadata() -> tuple[Check, ...]:
    return (
        (
            F.col("dialect").isNull(),
            "wrong_format",
            "the tuple has no metadata column of DataWorks or DTS: check that the topic carries"
            " such tuples",
        ),
        (
            F.size(_per_dialect(_lacking)) > 0,
            "missing_field",
            F.concat(F.lit("the tuple has no "), F.array_join(_per_dialect(_lacking), ", ")),
        ),
        (
            F.col("table_name") == "",
            "missing_field",
            F.concat(F.lit("the tuple has no table in `"), _name_of("table"), F.lit("`")),
        ),
        unknown_op(
            "operation of a DataHub tuple",
            _name_of("operation"),
            source_op="metadata.operation",
        ),
        (
            is_bad_sequence_id(F.col("sequence_id")),
            "bad_sequence",
            F.concat(
                F.lit("`"), _name_of("sequence_id"), F.lit("` is neither 1 to 38 digits nor -1")
            ),
        ),
        (
            is_bad_millis(F.col("time")),
            "bad_timestamp",
            F.concat(F.lit("`"), _name_of("time"), F.lit("` is not epoch milliseconds")),
        ),
    )


def _checks_of_image() -> tuple[Check, ...]:
    flags = F.concat_ws("/", "metadata.before_flag", "metadata.after_flag")
    is_after_image = F.coalesce(F.col("meaning.op").isin("insert", "update"), F.lit(False))
    return (
        (
            flags != F.when(is_after_image, "N/Y").otherwise("Y/N"),
            "missing_image",
            F.concat(
                F.lit("the flags of the before and the after image do not fit the operation "),
                F.col("metadata.operation"),
                F.lit(": "),
                flags,
            ),
        ),
        (
            F.col("has_one_column_twice"),
            "malformed_json",
            "two columns have the same name, one with the prefix `dts_` and one without it",
        ),
        (
            F.col("image").isNull(),
            "missing_image",
            "the tuple has only metadata columns",
        ),
        (
            (F.col("op") == "snapshot") & ~is_after_image,
            "missing_image",
            "a row of the full load (sequence id -1) must be an after image, not a before image",
        ),
    )
