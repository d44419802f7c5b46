"""The prompt: what Enter runs, what Tab offers, what Ctrl-C and Ctrl-D do."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput
from pyspark.sql import SparkSession

from cdc_marts.cli import app
from cdc_marts.sql.prompt import (
    Cancelled,
    CatalogNames,
    SqlCompleter,
    is_complete,
    read_texts,
    run_cancellable,
)

Complete = Callable[[str], list[str]]


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        yield keys


@pytest.fixture(scope="module")
def complete(session: SparkSession) -> Complete:
    completer = SqlCompleter(CatalogNames(session))
    return lambda text: [
        completion.text for completion in completer.get_completions(Document(text), CompleteEvent())
    ]


@pytest.mark.parametrize("text", ["select 1;", "select\n1 ;\n", "exit", "select 1\n", ""])
def test_enter_runs_what_ends_with_a_semicolon_or_a_blank_line(text: str) -> None:
    assert is_complete(Document(text))


@pytest.mark.parametrize("text", ["select 1", "select 1;\nfrom", "exit strategy"])
def test_enter_goes_on_with_an_open_text(text: str) -> None:
    assert not is_complete(Document(text))


@pytest.mark.parametrize("end", ["exit\r", "exit;\r", "quit\r", "\x04"])
def test_texts_are_read_until_the_end_and_remembered(
    session: SparkSession, keys: PipeInput, tmp_path: Path, end: str
) -> None:
    history = tmp_path / "state" / "sql_history"
    # Ctrl-C leaves out what was typed.
    keys.send_text("select\r1;\rselect 2\x03select 3;\r" + end + "select 4;\r")
    assert list(read_texts(session, "> ", history)) == ["select\n1;", "select 3;"]
    remembered = history.read_text("utf-8")
    assert "+select\n+1;" in remembered and "+select 3;" in remembered
    assert history.stat().st_mode & 0o077 == 0


def test_earlier_texts_are_there_again(
    session: SparkSession, keys: PipeInput, tmp_path: Path
) -> None:
    history = tmp_path / "sql_history"
    keys.send_text("select 1;\rexit\r")
    list(read_texts(session, "> ", history))
    up = "\x1b[A"
    keys.send_text(f"{up}{up}\rexit\r")
    assert list(read_texts(session, "> ", history)) == ["select 1;"]


def test_a_prompt_without_a_file_for_its_history_runs(
    session: SparkSession, keys: PipeInput, tmp_path: Path
) -> None:
    (tmp_path / "state").write_text("no folder")
    keys.send_text("select 1;\rexit\r")
    assert list(read_texts(session, "> ", tmp_path / "state" / "sql_history")) == ["select 1;"]


@pytest.mark.usefixtures("command_line")
def test_the_prompt_runs_queries_until_its_end_and_goes_on_behind_errors(
    keys: PipeInput,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CDC_MARTS_HOME", str(tmp_path))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    keys.send_text(
        "select 1 as a; select 2 as b;\rdrop table sql_test.orders;\rselect no_column;\r"
        "select count(*) as orders from sql_test.orders;\rexit\rselect 3 as c;\r"
    )

    app(["sql", "--target", "demo", "--format", "md"], standalone_mode=False)

    shown = capsys.readouterr()
    greeting, *results = shown.out.splitlines()
    assert greeting.startswith("Target demo. End a query with a semicolon;")
    assert [line for line in results if line != "|---|"] == [
        *("| a |", "| 1 |", "| b |", "| 2 |", "| orders |", "| 2 |")
    ]
    refused, wrong = shown.err.splitlines()
    assert "Only queries run here" in refused
    assert "`no_column`" in wrong
    assert "+select no_column;" in (tmp_path / "demo" / "sql_history").read_text("utf-8")


def test_tables_are_offered_behind_from(complete: Complete) -> None:
    assert complete("select * from sql_test.o") == ["sql_test.orders"]
    assert "sql_test.orders" in complete("select * from a join ")


def test_columns_of_the_named_tables_are_offered(complete: Complete) -> None:
    text = "select * from sql_test.orders as o where "
    assert complete(f"{text}amo") == ["amount"]
    assert complete(f"{text}o.pla") == ["placed_at"]
    assert complete("select amo") == []


def test_keywords_are_offered(complete: Complete) -> None:
    assert "select" in complete("sel")
    assert complete("select * from t gro")[0] == "group"


def test_an_interrupt_cancels_the_query_and_the_next_one_runs(session: SparkSession) -> None:
    # Sums over pairs: they would take hours.
    endless = "select sum(a.id * b.id) from range(1000000000) a cross join range(1000000000) b"
    interrupt = threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    began = time.monotonic()
    try:
        interrupt.start()
        with pytest.raises(Cancelled):
            run_cancellable(session, lambda: session.sql(endless).collect())
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - began < 60
    found: list[int] = []
    run_cancellable(session, lambda: found.append(session.sql("select 1 as a").first().a))
    assert found == [1]


def test_an_error_of_the_query_is_raised(session: SparkSession) -> None:
    with pytest.raises(ZeroDivisionError):
        run_cancellable(session, lambda: 1 / 0)
