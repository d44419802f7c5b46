"""Classes of Spark's Java process."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.adapters.spark_session.jvm import java_class
from py4j.clientserver import ClientServerConnection
from py4j.java_gateway import JavaPackage
from py4j.protocol import MEMORY_COMMAND_NAME, REFLECTION_COMMAND_NAME
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F


@pytest.fixture
def commands(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Java is told."""
    commands: list[str] = []
    send = ClientServerConnection.send_command

    def noted(connection: Any, command: str) -> Any:
        commands.append(command)
        return send(connection, command)

    monkeypatch.setattr(ClientServerConnection, "send_command", noted)
    return commands


def test_java_is_asked_once_for_a_function(commands: list[str]) -> None:
    def column() -> Column:
        return F.coalesce(F.col("a"), F.array(F.lit(1), "b").getItem(0))

    column()
    commands.clear()
    column()
    assert any("coalesce" in command for command in commands)
    assert not [command for command in commands if command.startswith(REFLECTION_COMMAND_NAME)]


def test_java_is_asked_once_for_a_class(spark: SparkSession, commands: list[str]) -> None:
    def size() -> int:
        found: int = java_class(spark, "java.util.Collections").emptyList().size()
        return found

    size()
    commands.clear()
    assert size() == 0
    calls = [command for command in commands if not command.startswith(MEMORY_COMMAND_NAME)]
    assert [command.splitlines()[2] for command in calls] == ["emptyList", "size"]


def test_a_class_that_is_added_later_is_found(spark: SparkSession) -> None:
    assert isinstance(java_class(spark, "no.such.Thing"), JavaPackage)
    assert "no.such.Thing" not in vars(spark._jvm)
