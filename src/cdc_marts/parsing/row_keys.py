"""This module makes row keys: compact JSON of the key columns, in their order.

The parts of a key are columns of their own, made step by step. If an expression occurs twice in
another one, Spark generates its code twice, and Java refuses to compile a method of more than 64
KB.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.parsing.images import COLUMNS, columns_named, columns_of, has_columns, json_text
from cdc_marts.parsing.values import position

#: The hidden row number that MySQL on RDS gives a table without a key. The second name is that of
#: the vendor's pages.
MYSQL_ROW_IDS = ("__#alibaba_rds_row_id#__", "#alibaba_rds_row_id#")
#: The row address of an Oracle table.
ORACLE_ROW_ID = "rowid"

#: The key of the row as it is, or for a delete as it was; and as an update found it.
_KEYS = ("row_key", "row_key_before")
_WHOLE_NUMBERS = r"^-?[0-9]{1,38}(,-?[0-9]{1,38})*$"


def row_ids() -> list[str]:
    """Return the names of row ids of databases, which are keys as the last resort."""
    return [ORACLE_ROW_ID, *MYSQL_ROW_IDS]


def with_row_keys(records: DataFrame, *, has_texts_only: bool) -> DataFrame:
    """Add `row_key` and, for updates, `row_key_before`: the keys of both images.

    A key is null if there is no image, or if the image lacks a key column. If the record has a
    `row_id`, the key is made from it. In a keyless table, the key is the whole image, whose columns
    a VARIANT keeps sorted.

    A text in one of the `whole_number_columns` is written as a number, so a row has the same key
    however its producer writes numbers. `has_texts_only` means that all values of key columns are
    written as texts.
    """
    is_update = F.col("op") == "update"
    images = records.withColumns(
        {
            "columns_of_row_key": F.coalesce("columns_after", "columns_before"),
            "image_of_row_key": F.coalesce("after", "before"),
            "columns_of_row_key_before": F.when(is_update, F.col("columns_before")),
            "image_of_row_key_before": F.when(is_update, F.col("before")),
        }
    )
    steps = [_key_columns, *([] if has_texts_only else [_types, _texts, _numbers])]
    row_key = _row_key_of_texts if has_texts_only else _row_key
    parts = images
    for step in steps:
        parts = parts.withColumns(
            {f"{name}_of_{key}": column for key in _KEYS for name, column in step(key).items()}
        )
    return parts.select(*records.columns, *(_or_row_id(row_key(key)).alias(key) for key in _KEYS))


def _key_columns(key: str) -> dict[str, Column]:
    """Return the columns from which the key is made.

    If the key has one column, `value` is its value. If it has several columns, or none, they are in
    `keyed`.
    """
    columns, key_columns = F.col(f"columns_of_{key}"), F.col("key_columns")
    has_all = has_columns(columns, key_columns)
    return {
        "value": F.when(F.size(key_columns) == 1, columns[F.get(key_columns, 0)]),
        # The columns of the image are sorted; `columns` may have others behind them.
        "keyed": F.when(F.size(key_columns) == 0, columns_of(F.col(f"image_of_{key}"))).when(
            (F.size(key_columns) > 1) & has_all, columns_named(columns, key_columns)
        ),
    }


def _types(key: str) -> dict[str, Column]:
    """Return the `type` of the value if the key has one column.

    If it has several, `whole` has those that are whole numbers.
    """
    keyed = F.col(f"keyed_of_{key}")
    names = F.array_intersect(F.map_keys(keyed), F.col("whole_number_columns"))
    return {
        "type": F.schema_of_variant(F.col(f"value_of_{key}")),
        "whole": F.when(F.size(names) > 0, columns_named(keyed, names)),
    }


def _texts(key: str) -> dict[str, Column]:
    """Return the value as `text`, if the key has one column and its value is a text."""
    # Spark writes text of its own several times sooner than text in a VARIANT.
    is_text = F.col(f"type_of_{key}") == "STRING"
    return {"text": F.when(is_text, F.col(f"value_of_{key}").cast("string"))}


def _numbers(key: str) -> dict[str, Column]:
    """Return the text as a `number`, if its column has whole numbers."""
    is_whole_number = F.array_contains("whole_number_columns", F.get("key_columns", 0))
    return {"number": F.when(is_whole_number, position(F.col(f"text_of_{key}")))}


def _row_key(key: str) -> Column:
    value, text, number, keyed, whole = (
        F.col(f"{part}_of_{key}") for part in ("value", "text", "number", "keyed", "whole")
    )
    is_bigint = F.col(f"type_of_{key}") == "BIGINT"
    return (
        F.when(number.isNotNull(), _json_of_one(number))
        .when(text.isNotNull(), _json_of_one(text))
        .when(is_bigint, _json_of_one(value.cast("bigint")))
        .when(value.isNotNull(), _json_of_one(value))
        .otherwise(F.to_json(_with_numbers(keyed, whole)))
    )


def _row_key_of_texts(key: str) -> Column:
    value, keyed = F.col(f"value_of_{key}"), F.col(f"keyed_of_{key}")
    is_keyless = F.size("key_columns") == 0
    return (
        F.when(value.isNotNull(), _json_of_one(value.cast("string")))
        .when(is_keyless, F.to_json(keyed))
        .otherwise(F.to_json(keyed.cast("map<string,string>")))
    )


def _or_row_id(row_key: Column) -> Column:
    row_id = F.col("row_id")
    name = json_text(F.get("key_columns", 0))
    of_row_id = F.concat(F.lit("{"), name, F.lit(":"), json_text(row_id), F.lit("}"))
    return F.when(row_id.isNotNull(), of_row_id).otherwise(row_key)


def _json_of_one(value: Column) -> Column:
    """Return JSON of an object that has only this one key column."""
    return F.to_json(F.create_map(F.get("key_columns", 0), value))


def _with_numbers(keyed: Column, whole: Column) -> Column:
    """Write the whole numbers of a key as numbers, if the texts of all of them are numbers."""
    texts = F.map_values(whole.cast("map<string,string>"))
    numbers = whole.cast("map<string,decimal(38,0)>").cast(COLUMNS)
    are_numbers = F.array_join(texts, ",").rlike(_WHOLE_NUMBERS)
    return F.when(are_numbers, F.map_concat(keyed, numbers)).otherwise(keyed)
