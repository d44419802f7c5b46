"""How Spark reads each format: one parse a message, no Python, no shuffle, one compiled loop."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
from pyspark.sql import SparkSession

from cdc_marts.formats import SOURCE_FORMATS
from tests.python.formats.staging import landed, plan_of

#: The calls that read a message, where it is not `from_json` alone: DTS has keys as JSON in a tag.
PARSES = {"dts_avro": {"from_avro(": 1, "from_json(": 1}}
#: Projections that Spark does not compile, and around which it copies rows: the parse itself, and
#: those with lambdas, which Connect's schemas, StreamX's columns, tuples and DTS values take.
NOT_COMPILED = {
    "lindorm_debezium": 3,
    "dataworks_json": 2,
    "dts_avro": 2,
    "shareplex_json": 1,
    "canal_json": 1,
    "cdl_json": 3,
    "cdl_debezium_json": 3,
    "datahub_tuple": 2,
    "datahub_blob": 2,
}


@pytest.fixture(scope="module")
def plans(spark: SparkSession) -> dict[str, str]:
    """Format -> the plan of its parser."""
    whole_stage = "spark.sql.codegen.wholeStage"
    usual = spark.conf.get(whole_stage)
    spark.conf.set(whole_stage, "true")
    try:
        return {
            source_format: plan_of(
                import_module(f"cdc_marts.formats.{source_format}").parse(landed(spark, ["{}"]))
            )
            for source_format in SOURCE_FORMATS
        }
    finally:
        spark.conf.set(whole_stage, usual)


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_a_message_is_parsed_once(plans: dict[str, str], source_format: str) -> None:
    parses = PARSES.get(source_format, {"from_json(": 1})
    assert {call: plans[source_format].count(call) for call in parses} == parses


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_a_message_goes_through_no_python_and_no_shuffle(
    plans: dict[str, str], source_format: str
) -> None:
    assert re.search("Python|Pandas|Exchange", plans[source_format]) is None


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_all_but_the_parse_and_lambdas_is_compiled(
    plans: dict[str, str], source_format: str
) -> None:
    projections = re.findall(r"^[ :+\-|]*(\*\(\d+\) )?Project ", plans[source_format], re.MULTILINE)
    assert projections.count("") == NOT_COMPILED[source_format]
