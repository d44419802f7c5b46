"""Keys that a row has in messages that name other key columns, or write values in another way.

The key of a table may change while its messages land, and a table may get its first key.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructType

from cdc_marts.local_rows import local_rows
from cdc_marts.operations.erasure.keys import has_key

_GIVEN = StructType().add("given", StringType())
_PAIR = StructType().add("given", StringType()).add("row_key", StringType())


def other_keys(records: DataFrame, row_keys: Sequence[str]) -> set[str]:
    """Return the keys that belong to the same rows as these keys.

    Two keys belong to one row if an image under the first key has the values of the second, and an
    image under the second one does not contradict the first. The key of a keyless row is its image;
    it belongs to a key whose values it has.

    `records`: the staging rows of the table.
    """
    keyed, keyless = records.where("not is_keyless"), records.where("is_keyless")
    images = _images(keyed.where(has_key(row_keys))).where(F.col("row_key").isin(*row_keys))
    named = {row["row_key"] for row in images.select("row_key").distinct().collect()}
    whole = [key for key in row_keys if key not in named]
    found: set[str] = set()
    if named:
        in_images = _named_in(images.select(F.col("row_key").alias("given"), "image"), keyed)
        found |= _without_contradictions(keyed, in_images)
        found |= _keyless_with(_given(keyless, named), keyless)
    if whole:
        in_whole = _named_in(_given(keyed, whole), keyed)
        found |= {row["row_key"] for row in in_whole.collect()}
    return found


def _named_in(images: DataFrame, keyed: DataFrame) -> DataFrame:
    """Return pairs of a `given` key and a key (`row_key`) whose values its image has."""
    key_columns = keyed.select(F.transform("key_columns", F.lower).alias("names")).distinct()
    parts = images.crossJoin(F.broadcast(key_columns)).select(
        "given",
        "names",
        F.filter("image", lambda member: F.array_contains("names", member["name"])).alias("values"),
    )
    parts = parts.where(F.size("values") == F.size("names")).select("given", "values").distinct()
    keys = _keys(keyed)
    return keys.join(F.broadcast(parts), "values").select("given", "row_key").distinct()


def _without_contradictions(keyed: DataFrame, pairs: DataFrame) -> set[str]:
    """Return the keys in the pairs that have an image that does not contradict the given key."""
    found = [(given, row_key) for given, row_key in pairs.collect() if given != row_key]
    if not found:
        return set()
    given = local_rows(keyed.sparkSession, found, _PAIR).withColumn("values", _members("given"))
    images = _images(keyed.where(has_key([row_key for _, row_key in found])))
    others = F.array_except("values", "image")
    contradicts = F.arrays_overlap(others["name"], F.col("image.name"))
    agreeing = images.join(F.broadcast(given), "row_key").where(~contradicts)
    return {row["row_key"] for row in agreeing.select("row_key").distinct().collect()}


def _keyless_with(given: DataFrame, keyless: DataFrame) -> set[str]:
    """Return the keys of keyless rows that have all values of a given key."""
    has_values = F.size(F.array_except("image", "values")) == 0
    found = _keys(keyless).join(F.broadcast(given), has_values, "left_semi")
    return {row["row_key"] for row in found.select("row_key").distinct().collect()}


def _given(records: DataFrame, row_keys: Collection[str]) -> DataFrame:
    """Return keys as `given`, with their values as `image`."""
    keys = local_rows(records.sparkSession, [(key,) for key in row_keys], _GIVEN)
    return keys.withColumn("image", _members("given"))


def _keys(records: DataFrame) -> DataFrame:
    """Return the keys in records (`row_key`), with their `values`."""
    keys = F.explode(F.array("row_key", "previous_row_key"))
    return records.select(keys.alias("row_key")).withColumn("values", _members("row_key"))


def _images(records: DataFrame) -> DataFrame:
    """Return `row_key` and `image` of both images of records."""
    after = records.select("row_key", F.to_json("after").alias("text"))
    before = records.select(
        F.coalesce("previous_row_key", "row_key").alias("row_key"), F.to_json("before")
    )
    images = after.union(before).where("text is not null")
    return images.select("row_key", _members("text").alias("image"))


def _members(text: str | Column) -> Column:
    """Return the members of a JSON object, sorted: names in lower case, values as texts."""
    members = F.transform(
        F.map_entries(F.from_json(text, "map<string,string>")),
        lambda member: F.struct(F.lower(member["key"]).alias("name"), member["value"]),
    )
    return F.array_sort(members)
