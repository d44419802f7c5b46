"""Classes of Spark's Java process."""

from __future__ import annotations

from typing import Any

import pytest
from py4j.clientserver import ClientServerConnection
from py4j.protocol import REFLECTION_COMMAND_NAME
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F


def test_java_is_asked_once_for_a_function(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def column() -> Column:
        return F.coalesce(F.col("a"), F.array(F.lit(1), "b").getItem(0))

    column()
    commands: list[str] = []
    send = ClientServerConnection.send_command

    def noted(connection: Any, command: str) -> Any:
        commands.append(command)
        return send(connection, command)

    monkeypatch.setattr(ClientServerConnection, "send_command", noted)
    column()
    assert any("coalesce" in command for command in commands)
    assert not [command for command in commands if command.startswith(REFLECTION_COMMAND_NAME)]
