"""The tables of other targets that read the landing tables of this one are found."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dbt.adapters.spark_session.api import commit_watermarks
from pyspark.sql import SparkSession

from cdc_marts.operations.other_readers import other_readers, other_staging_tables

SCHEMAS = ("shared", "dev_staging", "prod_staging")
OWN, OTHER = "dev_staging.stg_canal_json", "prod_staging.stg_canal_json"
OTHER_RESYNCS = "prod_staging.int_resyncs"


@pytest.fixture
def tables(spark: SparkSession) -> Iterator[None]:
    names = (
        "shared.canal_json",
        OWN,
        OTHER,
        "prod_staging.stg_cdl_json",
        "prod_staging.stg_dts_avro",
        OTHER_RESYNCS,
        "prod_staging.copy",
    )
    for schema in SCHEMAS:
        spark.sql(f"create namespace if not exists {schema}")
    for name in names:
        spark.sql(f"create table {name} (id bigint)")
    yield
    for name in names:
        spark.sql(f"drop table {name} purge")
    for schema in SCHEMAS:
        spark.sql(f"drop namespace {schema}")


@pytest.mark.usefixtures("tables")
def test_they_are_those_that_committed_what_they_read(spark: SparkSession) -> None:
    for reader in (OWN, OTHER, "prod_staging.copy"):
        commit_watermarks(spark, reader, {"shared.canal_json": 1})
    commit_watermarks(spark, OTHER_RESYNCS, {"shared.resyncs": 1})
    commit_watermarks(spark, "prod_staging.stg_cdl_json", {"elsewhere.cdl_json": 1})
    # The last commit may be one of upkeep, which has no watermarks.
    spark.sql(f"insert into {OTHER} values (1)")

    found = {"shared.canal_json": [OTHER], "shared.resyncs": [OTHER_RESYNCS]}
    assert other_readers(spark, "shared", [OWN.upper()]) == found


@pytest.mark.usefixtures("tables")
def test_models_of_the_project_are_found_on_another_target(spark: SparkSession) -> None:
    for reader in (OWN, "prod_staging.copy"):
        commit_watermarks(spark, reader, {"shared.canal_json": 1})

    found = other_readers(spark, "shared", [OWN], ["dev_staging.copy"])

    assert found == {"shared.canal_json": ["prod_staging.copy"]}


@pytest.mark.usefixtures("tables")
def test_staging_tables_are_found_before_this_target_has_one(spark: SparkSession) -> None:
    commit_watermarks(spark, OTHER, {"shared.canal_json": 1})

    assert other_staging_tables(spark, "shared.canal_json", OWN) == [OTHER]
    assert other_staging_tables(spark, "shared.canal_json", OTHER) == []
    assert other_staging_tables(spark, "shared.cdl_json", OWN) == []
