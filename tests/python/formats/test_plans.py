"""How Spark reads each format: one parse a message, no Python, no shuffle, one compiled loop."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from importlib import import_module

import pytest
from pyspark.sql import DataFrame, SparkSession

from cdc_marts.source_formats import SOURCE_FORMATS
from tests.python.formats.staging import landed, plan_of
from tests.python.harness.compiled_queries import compiled_queries

_PARSE = re.compile(r"\b(from_json|from_avro|\w*parse_json|parseJson|get_json_object|json_tuple)\(")
#: The calls of a message that is JSON: the second is for one with numbers of over 38 digits.
PARSES_OF_JSON = {"from_json": 2}
#: Lindorm's record key is read too, DTS has keys as JSON in a tag, and numbers of unusual notation.
PARSES = {
    "lindorm_debezium": {"from_json": 2, "parseJson": 1},
    "dts_avro": {"from_avro": 1, "from_json": 1, "parseJson": 4},
}
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


@pytest.fixture(scope="module", autouse=True)
def compiled(spark: SparkSession) -> Iterator[None]:
    with compiled_queries(spark):
        yield


@pytest.fixture(scope="module")
def parsers(spark: SparkSession) -> dict[str, DataFrame]:
    """Format -> what its parser makes of a message."""
    return {
        source_format: import_module(f"cdc_marts.formats.{source_format}").parse(
            landed(spark, ["{}"])
        )
        for source_format in SOURCE_FORMATS
    }


@pytest.fixture(scope="module")
def plans(parsers: dict[str, DataFrame]) -> dict[str, str]:
    """Format -> the plan of its parser."""
    return {source_format: plan_of(staging) for source_format, staging in parsers.items()}


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_a_message_is_parsed_once(plans: dict[str, str], source_format: str) -> None:
    calls = dict(Counter(_PARSE.findall(plans[source_format])))
    assert calls == PARSES.get(source_format, PARSES_OF_JSON)


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


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_java_compiles_the_loop(parsers: dict[str, DataFrame], source_format: str) -> None:
    [record] = parsers[source_format].collect()
    assert record.record_type in ("change", "rejected")
