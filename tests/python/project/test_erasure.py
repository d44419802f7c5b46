"""An erasure that can't do its work says what to do."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from cdc_marts.operations.erasure import Erasure, ErasureError
from cdc_marts.relations import Relations


def test_messages_behind_a_view_are_erased_in_its_table(spark: SparkSession) -> None:
    spark.sql("create namespace erased")
    spark.sql("create table erased.messages (value binary)")
    spark.sql("create table erased.stg_canal_json (topic string)")
    spark.sql("create view erased.canal_json as select * from erased.messages")
    relations = Relations({"stg_canal_json": "erased.stg_canal_json"}, "erased")
    try:
        with pytest.raises(ErasureError, match=r"erased\.canal_json is a view") as raised:
            Erasure(spark, "canal_json", "shop.orders", relations).find(['{"id":"1"}'])
    finally:
        spark.sql("drop view erased.canal_json")
        for table in ("messages", "stg_canal_json"):
            spark.sql(f"drop table erased.{table} purge")
        spark.sql("drop namespace erased")
    assert "--full-refresh --select source:cdc_marts.landing.canal_json+" in str(raised.value)
