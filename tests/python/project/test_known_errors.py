"""What a person reads of an error of a command, and the exit code that the command ends with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import typer
from dbt.adapters.spark_session.api import SessionError
from dbt_common.exceptions import DbtBaseException
from pyspark.errors import PySparkRuntimeError

from cdc_marts import project
from cdc_marts.cli.session import open_session
from cdc_marts.project import session
from cdc_marts.project.target import ProjectError, Target

TARGET = Target("demo", Path(), Path())


@pytest.mark.parametrize(
    ("error", "text", "exit_code"),
    [
        (ProjectError("There is no target."), "There is no target.", 2),
        (SessionError("Another run still uses it."), "Another run still uses it.", 1),
        (DbtBaseException("a\n  b"), "a b", 1),
        (PySparkRuntimeError("a"), "Landing failed: [None] a", 1),
    ],
)
def test_an_error_ends_a_command_with_a_sentence(
    error: Exception,
    text: str,
    exit_code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    @contextmanager
    def opened(*_: object, **__: object) -> Iterator[None]:
        yield

    monkeypatch.setattr(project, "spark_session", opened)
    monkeypatch.setattr(session, "home_of", lambda _: None)
    monkeypatch.setattr("cdc_marts.cli.session.signal.signal", lambda *_: None)
    with pytest.raises(typer.Exit) as ended, open_session(TARGET, "Landing failed"):
        raise error
    assert ended.value.exit_code == exit_code
    assert capsys.readouterr().err.splitlines()[-1] == text
