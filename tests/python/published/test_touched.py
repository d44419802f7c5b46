"""Which keys of a published mart a run replaces."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from cdc_marts.parsing.records import SEQUENCE
from cdc_marts.published.touched import keys_of_rows

_KEY = "source_format string, table_id string, row_key string"
#: Input -> its columns.
INPUTS = {
    "mart": _KEY,
    "touched_keys": _KEY,
    "colliding_keys": _KEY,
    "keyless_rows": _KEY,
    "filled_rows": f"{_KEY}, filled_from map<string, {SEQUENCE}>",
    "truncations": "source_format string, table_id string",
    "lost_columns": f"source_format string, table_id string, column_name string,"
    f" sequence {SEQUENCE}",
}


@dataclass
class Inputs:
    """A run whose inputs have these rows, all of them new."""

    spark: SparkSession
    given: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)

    def rows(self, name: str) -> DataFrame:
        return self.spark.createDataFrame(self.given.get(name, []), INPUTS[name])

    new_rows = changed_rows = rows_before = rows


@pytest.mark.parametrize("cause", ["touched_keys", "colliding_keys", "filled_rows"])
def test_a_changed_row_has_its_other_key_in_a_table_that_lost_its_key(
    spark: SparkSession, cause: str
) -> None:
    keyed = ("canal_json", "shop.seats", '{"b":"x","a":"1"}')
    keyless = ("canal_json", "shop.seats", '{"a":"1","b":"x"}')
    of_other_table = ("canal_json", "shop.orders", '{"b":"x","a":"1"}')
    rest = ({},) if cause == "filled_rows" else ()
    run = Inputs(
        spark,
        {cause: [(*keyed, *rest), (*of_other_table, *rest)], "keyless_rows": [keyless]},
    )
    published = spark.createDataFrame([], f"{_KEY}, last_sequence {SEQUENCE}, sequence {SEQUENCE}")
    found = {tuple(row) for row in keys_of_rows(run, published).collect()}
    assert found == {keyed, keyless, of_other_table}
