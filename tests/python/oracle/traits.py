"""What each format has words for, what its messages lack and why: one table for the oracle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.python.encoders import canal_json, datahub_tuple

# -- what may happen in a database ---------------------------------------------------------------

TRUNCATE = "truncate"
DROP_TABLE = "drop table"
KEY_CHANGE = "key change"
#: Two rows hold one key for a moment: a swap of keys, or `set id = id + 1`.
KEY_SWAP = "key swap"
ADD_COLUMN = "add column"
DROP_COLUMN = "drop column"
RENAME_COLUMN = "rename column"
#: A table gets another key, its first one, or loses its key.
OTHER_KEY = "other key"
#: Columns of a row that the log does not have: minimal images, TOAST.
UNAVAILABLE = "unavailable columns"
#: One message under two offsets.
REDELIVERY = "redelivery"
#: Changes of one row at one time of the log's clock.
EQUAL_TIMES = "equal times"
#: A row without any value.
EMPTY_ROW = "empty row"

# -- how a row is known --------------------------------------------------------------------------

BY_MESSAGE = "key columns that the message names"
BY_SETTING = "key columns that the project sets"
BY_ADDRESS = "its address in the database"
BY_HIDDEN_COLUMN = "a row number that the source adds to its columns"
BY_ITSELF = "all of it: a keyless table"


@dataclass(frozen=True)
class Traits:
    """A format, the kind of database behind it, and its producer's variants."""

    known_by: tuple[str, ...]
    #: What can't happen here, or leaves no message of it -> why.
    lacks: Mapping[str, str]
    has_schemas: bool = False
    names_database: bool = True
    #: How its database spells names.
    spelled: Callable[[str], str] = str
    #: The order is that of the offsets, not that of a position in the message.
    is_ordered_by_landing: bool = False
    #: A statement's rows share a message.
    knows_statements: bool = False
    #: Messages have the text of a schema change, which says what it does.
    reads_statements: bool = False
    #: A change of a key is published as a delete and an insert.
    splits_key_changes: bool = False
    #: The key comes from an object, which has no order.
    has_unordered_keys: bool = False
    #: An insert may leave out columns that get their defaults, and so its image in the log.
    inserts_leave_out_columns: bool = False
    #: What an insert lists is the whole table, whatever the images of other changes lack.
    inserts_list_tables: bool = False
    #: A NULL is a column that is not there.
    leaves_out_nulls: bool = False
    #: Before images of updates have the old row, whole if the log has it whole.
    has_old_rows: bool = False
    #: The step of its clock, in milliseconds.
    clock: int = 1
    #: Messages name their transaction.
    names_transactions: bool = True
    #: Each run of a task numbers its records anew.
    renumbers_records: bool = False
    #: Rows of the full load have no time.
    is_full_load_timeless: bool = False
    #: A table has a topic of its own.
    has_topic_per_table: bool = False
    #: Messages of several partitions may have one time.
    may_tie_partitions: bool = False
    #: Encoder's options that one producer keeps: option -> values.
    set_up: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    #: Encoder's options that all rows of a full load share.
    per_load: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    #: Encoder's options that may differ from message to message.
    per_message: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def has(self, feature: str) -> bool:
        return feature not in self.lacks


_BOTH = (True, False)
_SELDOM = (True, False, False)
#: Null: what the kind of change has.
_STREAMX_DDL_OPS = (None, None, "QUERY")
_ONE_ROW_PER_KEY = "MySQL checks keys row by row: two rows never hold one key"
_NOT_PUBLISHED = "no message has it"
_NAMES_NO_KEY = "no message names a key"
_IMAGES_ARE_WHOLE = "images are always whole"

TRAITS = {
    "lindorm_debezium": Traits(
        known_by=(BY_MESSAGE, BY_SETTING),
        lacks={
            TRUNCATE: _NOT_PUBLISHED,
            DROP_TABLE: _NOT_PUBLISHED,
            KEY_CHANGE: "Lindorm has none: a row is deleted and inserted",
            KEY_SWAP: "Lindorm has no changes of keys",
            DROP_COLUMN: _NOT_PUBLISHED,
            RENAME_COLUMN: _NOT_PUBLISHED,
            OTHER_KEY: "a table of Lindorm keeps its key",
            UNAVAILABLE: _IMAGES_ARE_WHOLE,
            EQUAL_TIMES: "the time is the log position",
            EMPTY_ROW: "there is no row without columns",
        },
        has_schemas=True,
        has_unordered_keys=True,
        leaves_out_nulls=True,
        per_message={"with_schema": _BOTH, "with_key_schema": _BOTH, "keys_as_text": _SELDOM},
    ),
    "dataworks_json": Traits(
        known_by=(BY_MESSAGE, BY_SETTING, BY_HIDDEN_COLUMN, BY_ITSELF),
        lacks={},
        reads_statements=True,
        inserts_leave_out_columns=True,
        inserts_list_tables=True,
        has_old_rows=True,
        names_transactions=False,
        renumbers_records=True,
        is_full_load_timeless=True,
        set_up={"db_type": ("MySQL", "Oracle", "PostgreSQL"), "lists_image_only": _BOTH},
        per_message={
            "split_updates": _BOTH,
            "ddl_op": _STREAMX_DDL_OPS,
            "keys_as_text": _SELDOM,
        },
    ),
    "dts_avro": Traits(
        known_by=(BY_MESSAGE, BY_SETTING, BY_ITSELF),
        lacks={},
        has_schemas=True,
        is_ordered_by_landing=True,
        reads_statements=True,
        has_old_rows=True,
        clock=1000,
        set_up={"source_type": ("PostgreSQL", "Oracle", "MySQL")},
        per_message={"with_born_timestamp": _BOTH, "charset": ("utf8mb4", "gbk", "latin1")},
    ),
    "shareplex_json": Traits(
        known_by=(BY_SETTING, BY_ADDRESS, BY_ITSELF),
        lacks={
            DROP_COLUMN: "the message does not say which column",
            RENAME_COLUMN: _NOT_PUBLISHED,
            OTHER_KEY: _NAMES_NO_KEY,
            UNAVAILABLE: _IMAGES_ARE_WHOLE,
        },
        has_schemas=True,
        names_database=False,
        spelled=str.upper,
        clock=1000,
        per_message={"long_ops": _BOTH, "split_updates": _BOTH, "with_key_alone": _SELDOM},
    ),
    "canal_json": Traits(
        known_by=(BY_MESSAGE, BY_SETTING, BY_ITSELF),
        lacks={
            KEY_SWAP: _ONE_ROW_PER_KEY,
            REDELIVERY: "nothing but its offset distinguishes a message from another",
        },
        is_ordered_by_landing=True,
        knows_statements=True,
        reads_statements=True,
        inserts_leave_out_columns=True,
        clock=1000,
        may_tie_partitions=True,
        set_up={"swapped": (False, False, True), "lists_image_only": _BOTH},
        per_message={
            "annotated": _BOTH,
            "holds_statements": _BOTH,
            "whole_old": _BOTH,
            "ddl_type": (None, None, "DDL", "QUERY", canal_json.UNPARSED),
            "data_as_object": _BOTH,
            "keys_as_numbers": _SELDOM,
        },
    ),
    "cdl_json": Traits(
        known_by=(BY_MESSAGE, BY_ITSELF),
        lacks={
            TRUNCATE: _NOT_PUBLISHED,
            DROP_TABLE: _NOT_PUBLISHED,
            RENAME_COLUMN: _NOT_PUBLISHED,
        },
        has_schemas=True,
        names_database=False,
        set_up={"one_lsn": _BOTH},
        per_message={
            "with_schema": _BOTH,
            "with_before": _BOTH,
            "with_placeholders": _BOTH,
            "lsn_first": _BOTH,
            "keys_as_text": _SELDOM,
        },
    ),
    "cdl_debezium_json": Traits(
        known_by=(BY_MESSAGE, BY_ITSELF),
        lacks={DROP_TABLE: _NOT_PUBLISHED, RENAME_COLUMN: _NOT_PUBLISHED},
        has_schemas=True,
        splits_key_changes=True,
        set_up={"full_before": _BOTH, "one_lsn": _BOTH},
        per_load={"with_snapshot_lsn": _BOTH},
        per_message={
            "with_schema": _BOTH,
            "snapshot_as_insert": _BOTH,
            "keys_as_text": _SELDOM,
            "snapshot_flag": ("true", "first", "last", "first_in_data_collection", "incremental"),
        },
    ),
    "datahub_tuple": Traits(
        known_by=(BY_SETTING, BY_ITSELF),
        lacks={
            TRUNCATE: _NOT_PUBLISHED,
            DROP_TABLE: _NOT_PUBLISHED,
            ADD_COLUMN: "a topic keeps the columns it was made with",
            DROP_COLUMN: "a topic keeps the columns it was made with",
            RENAME_COLUMN: "a topic keeps the columns it was made with",
            OTHER_KEY: _NAMES_NO_KEY,
            UNAVAILABLE: _IMAGES_ARE_WHOLE,
        },
        names_transactions=False,
        renumbers_records=True,
        is_full_load_timeless=True,
        has_topic_per_table=True,
        set_up={"dialect": datahub_tuple.DIALECTS, "names_table": _BOTH},
    ),
    "datahub_blob": Traits(
        known_by=(BY_MESSAGE, BY_SETTING, BY_HIDDEN_COLUMN, BY_ITSELF),
        lacks={},
        has_schemas=True,
        reads_statements=True,
        has_old_rows=True,
        names_transactions=False,
        renumbers_records=True,
        is_full_load_timeless=True,
        set_up={"db_type": ("PostgreSQL", "Oracle", "MySQL")},
        per_message={
            "split_updates": _BOTH,
            "update_op": ("UPDATE", "UPDATE_AFTER"),
            "ddl_op": _STREAMX_DDL_OPS,
            "keys_as_text": _SELDOM,
            "half_op": (None, None, "UPDATE"),
        },
    ),
}

#: What a keyless table may not go through, in any format -> why.
KEYLESS_LACKS = {
    UNAVAILABLE: "a row is known by its whole image",
    ADD_COLUMN: "a row is known by its whole image, which changes without a message",
    DROP_COLUMN: "a row is known by its whole image, which changes without a message",
    RENAME_COLUMN: "a row is known by its whole image, which changes without a message",
}
#: What a table whose key changes may not go through, in any format -> why.
REKEYED_LACKS = KEYLESS_LACKS | {
    UNAVAILABLE: "under a new key no message has had the value before",
    KEY_SWAP: "under a new key the row that leaves is not known: `docs/semantics.md`",
}
