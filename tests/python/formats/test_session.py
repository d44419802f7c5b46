"""Parsers read in sessions that are set as the profile sets them, and in no others."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.parsing.session import REQUIRED_CONF, SessionSettingsError
from cdc_marts.source_formats import SOURCE_FORMATS
from tests.python.formats.staging import landed

OTHERS = {"false": "true", "true": "false", "UTC": "Asia/Shanghai", "LAST_WIN": "EXCEPTION"}


def test_the_profile_sets_what_parsers_need(spark_target: dict[str, Any]) -> None:
    written = {name: str(spark_target["conf"].get(name)).lower() for name in REQUIRED_CONF}
    assert written == {name: value.lower() for name, value in REQUIRED_CONF.items()}


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    """A session of its own, so that its settings may change."""
    return spark.newSession()


@pytest.mark.parametrize("name", REQUIRED_CONF)
def test_a_session_that_is_set_otherwise_is_refused(session: SparkSession, name: str) -> None:
    check_refusal(session, name, "shareplex_json")


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_each_parser_refuses_it(session: SparkSession, source_format: str) -> None:
    check_refusal(session, next(iter(REQUIRED_CONF)), source_format)


def check_refusal(session: SparkSession, name: str, source_format: str) -> None:
    """Check that a parser refuses a session in which one setting is another one."""
    for required, value in REQUIRED_CONF.items():
        session.conf.set(required, value)
    session.conf.set(name, OTHERS[REQUIRED_CONF[name]])
    parse = import_module(f"cdc_marts.formats.{source_format}").parse
    with pytest.raises(SessionSettingsError, match=f"Set {name} = {REQUIRED_CONF[name]} "):
        parse(landed(session, ["{}"]))
