"""What a run says of an error: what, where, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from dbt.adapters.spark_session import errors
from dbt.adapters.spark_session.errors import message_of, name_variables
from py4j.protocol import Py4JNetworkError


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "_variables", {})


STACK = "An error occurred.\n\tat java.base/x.y(Z.java:1)\nCaused by: java.io.IOException: "


@pytest.mark.parametrize(
    ("said", "matter", "remedy"),
    [
        ("No space left on device", "is full", "free space there"),
        ("[SQLITE_FULL] database or disk is full", "is full", "free space there"),
        ("Disk quota exceeded", "is full for this user", "free space there"),
        ("Read-only file system", "can't be written", "make it writable"),
        ("/x/y (Permission denied)", "can't be written", "correct its permissions"),
        (
            "[SQLITE_READONLY] attempt to write a readonly database",
            "can't be",
            "correct its permissions",
        ),
        ("[SQLITE_CANTOPEN] unable to open database file", "can't be", "correct its permissions"),
    ],
)
def test_a_disk_that_refuses_is_told_in_a_sentence(
    tmp_path: Path, said: str, matter: str, remedy: str
) -> None:
    message = message_of(RuntimeError(STACK + said), tmp_path)
    assert message.startswith(f"The folder {tmp_path} {matter}")
    assert remedy in message and "`home` in profiles.yml" in message and "\n" not in message


def test_variables_of_the_profile_are_named(tmp_path: Path) -> None:
    name_variables({"home": "MY_HOME", "spark.driver.memory": "MY_MEMORY"})
    assert "with MY_HOME, and run" in message_of(RuntimeError("Permission denied"), tmp_path)
    assert "with more MY_MEMORY" in message_of(ConnectionRefusedError())


def test_on_a_cluster_an_error_has_its_own_words() -> None:
    assert message_of(RuntimeError(STACK + "Permission denied")) == "An error occurred."


@pytest.mark.parametrize("error", [Py4JNetworkError("Answer is empty"), ConnectionRefusedError()])
def test_a_jvm_that_ended_is_told_with_its_log(tmp_path: Path, error: Exception) -> None:
    message = message_of(error, tmp_path)
    assert "Spark's Java process has ended" in message
    assert str(tmp_path / "spark.log") in message
