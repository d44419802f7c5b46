"""`cdc-marts` in this process, over an existing session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

from cdc_marts import project
from cdc_marts.cli import app


@contextmanager
def commands_use(
    session: SparkSession, while_open: Callable[[], AbstractContextManager[None]] = nullcontext
) -> Iterator[None]:
    """Give commands this session while the block runs, whatever target they name.

    `while_open`: a context around each command in the session.
    """

    @contextmanager
    def opened(*_: Any, **__: Any) -> Iterator[SparkSession]:
        with while_open():
            yield session

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(project, "spark_session", opened)
        yield


@contextmanager
def no_session() -> Iterator[None]:
    """Fail the test if a command opens a session while the block runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(project, "spark_session", lambda *_, **__: pytest.fail("Spark started"))
        yield


def run_command(*arguments: object, given: str | bytes | None = None) -> Result:
    """Return the result of `cdc-marts ARGUMENTS` with the input `given`.

    Errors in its code are raised.
    """
    texts = [str(argument) for argument in arguments]
    return CliRunner().invoke(app, texts, input=given, catch_exceptions=False)
