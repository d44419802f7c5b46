"""Rounds of `cdc-marts run`: when they begin, what ends them, and what they print."""

from __future__ import annotations

import datetime as dt
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dbt.adapters.spark_session.errors import SessionError
from dbt_common.exceptions import DbtRuntimeError
from py4j.protocol import Py4JError
from pyspark.errors import PySparkRuntimeError

from cdc_marts.cli import rounds as cli_rounds
from cdc_marts.landing import LandingError
from cdc_marts.landing.outcome import Landing
from cdc_marts.operations.round_view import lines_of
from cdc_marts.operations.rounds import Round, Rounds, StopRequest, run_round
from cdc_marts.project.dbt_commands import DbtOutcome
from cdc_marts.project.target import ProjectError
from tests.python.harness.commands import no_session, run_command

GOOD = DbtOutcome(Counter({"success": 2}), {}, [])


class Clock:
    """Time that passes while a round works, or while somebody waits."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


def began(
    every: float,
    durations: list[float],
    outcomes: list[bool] | None = None,
    max_failures: int | None = None,
) -> tuple[list[float], bool]:
    """When rounds of these durations begin, and whether a request ended them after the last."""
    clock, stop, at = Clock(), StopRequest(), []
    first = clock.now
    rounds = Rounds(every, stop, max_failures, clock, clock.pass_by)

    def one_round(number: int) -> bool:
        at.append(clock.now - first)
        clock.pass_by(durations[number - 1])
        if number == len(durations):
            stop.make()
        return outcomes is None or outcomes[number - 1]

    return at, rounds.run(one_round, lambda _: None)


def test_rounds_keep_to_their_beat() -> None:
    assert began(60, [5, 20, 59]) == ([0, 60, 120], True)


def test_a_round_never_begins_before_the_one_before_it_has_ended() -> None:
    # The beats at 60 and 120 are missed: they are not caught up.
    assert began(60, [130, 1, 1]) == ([0, 180, 240], True)


def test_rounds_that_fail_are_tried_again_until_too_many_failed_in_a_row() -> None:
    outcomes = [False, True, False, False, True]
    assert began(10, [1] * 5, outcomes, max_failures=2) == ([0, 10, 20, 30], False)
    assert began(10, [1] * 5, outcomes)[1]


def test_a_request_ends_the_wait_and_no_round_begins() -> None:
    stop = StopRequest()
    numbers = []

    def one_round(number: int) -> bool:
        numbers.append(number)
        return True

    # It comes while nothing works; an hour is not waited for.
    assert Rounds(3_600, stop).run(one_round, lambda _: stop.make())
    assert numbers == [1]


def test_the_first_signal_is_a_request_and_the_second_an_interrupt() -> None:
    notices = []
    stop = StopRequest(lambda: notices.append("stopping"))
    before = signal.getsignal(signal.SIGTERM)

    with stop.by_signals():
        os.kill(os.getpid(), signal.SIGTERM)
        assert (stop.is_made, notices) == (True, ["stopping"])
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)

    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(
    "error", [LandingError("Kafka can't be asked."), ProjectError("dbt can't read the project.")]
)
def test_nothing_is_built_where_landing_fails(error: Exception) -> None:
    def land() -> list[Landing]:
        raise error

    done = run_round(1, land, lambda: pytest.fail("dbt ran"), str)

    assert (done.failure, done.dbt) == (str(error), None)


def test_a_round_tells_what_landed_before_landing_failed() -> None:
    landing = Landing("canal_json", "landing.canal_json")
    landing.add(("shop", 0), 0, 2, 3)

    def land() -> Iterator[Landing]:
        yield landing
        raise LandingError("The disk is full.")

    done = run_round(1, land, lambda: pytest.fail("dbt ran"), str)

    first, reason = lines_of(done, "dbt build")
    assert first.endswith("round 1 failed: landed 3 messages (canal_json 3)")
    assert reason == "  The disk is full."


def test_a_round_fails_with_its_nodes_or_with_why_dbt_ran_none() -> None:
    failed = DbtOutcome(Counter({"error": 1}), {"stg_canal_json": "no"}, [])
    refused = DbtOutcome(Counter(), {}, [], "a setting is wrong")

    def raises() -> DbtOutcome:
        raise DbtRuntimeError("the lock is held")

    assert run_round(1, None, lambda: GOOD, str).failure is None
    assert "Nodes of dbt failed" in (run_round(1, None, lambda: failed, str).failure or "")
    assert run_round(1, None, lambda: refused, str).failure == "a setting is wrong"
    assert "the lock is held" in (run_round(1, None, raises, str).failure or "")


@pytest.mark.parametrize("error", [Py4JError("a"), PySparkRuntimeError("b"), ConnectionError("c")])
def test_an_error_of_spark_is_explained(error: Exception) -> None:
    def land() -> list[Landing]:
        raise error

    done = run_round(1, land, lambda: GOOD, lambda found: f"What {found!r}\n means.")

    assert done.failure == f"What {error!r} means."


def test_a_line_says_what_came_of_a_round() -> None:
    at = dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc)
    landing = Landing("canal_json", "dev_landing.canal_json", repeated=5, waiting=7)
    landing.add(("shop", 0), 0, 999, 1_000)
    tested = DbtOutcome(
        Counter({"pass": 2, "fail": 1, "warn": 1}), {"rows": "Got 1 result"}, ["late"]
    )
    done = Round(3, at, [landing], 0.81, tested, 6.25, "Nodes of dbt failed.")

    assert list(lines_of(done, "dbt build")) == [
        "2026-01-01 00:00:00 UTC  round 3 failed: landed 1,000 messages (canal_json 1,000) in"
        " 0.8 s; 5 of them had landed before; up to 7 messages still wait in Kafka;"
        " dbt build: 1 fail, 2 pass, 1 warn in 6.2 s",
        "  Nodes of dbt failed.",
        "  rows: Got 1 result",
        "  late warns",
    ]
    quiet = Round(1, at, dbt=GOOD, dbt_seconds=2)
    assert list(lines_of(quiet, "dbt run")) == [
        "2026-01-01 00:00:00 UTC  round 1 succeeded: dbt run: 2 success in 2.0 s"
    ]


def test_a_round_that_does_not_get_the_catalog_fails_and_the_next_one_tries_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numbers = []

    @contextmanager
    def session(*_: object, **__: object) -> Iterator[object]:
        yield object()

    @contextmanager
    def turn(*_: object) -> Iterator[None]:
        numbers.append(len(numbers) + 1)
        if len(numbers) == 1:
            raise SessionError("Another run still uses the folder.")
        yield

    def dbt(*_: object) -> DbtOutcome:
        os.kill(os.getpid(), signal.SIGTERM)
        return GOOD

    monkeypatch.setattr(cli_rounds, "open_session", session)
    monkeypatch.setattr(cli_rounds, "turn_to_write", turn)
    monkeypatch.setattr(cli_rounds, "outcome_of_dbt", dbt)
    monkeypatch.setattr(cli_rounds, "is_alive", lambda _: True)

    result = run_command("run", "--every", "1s")

    assert result.exit_code == 0, result.output
    assert "Round 1 failed: Another run still uses the folder." in result.stderr
    assert "1 round failed in a row. The next one begins in 1 s." in result.stderr
    assert "round 2 succeeded: dbt build: 2 success" in result.stdout


@pytest.mark.parametrize(
    ("outcome", "error", "exit_code", "message"),
    [
        (GOOD, None, 0, ""),
        (DbtOutcome(Counter({"error": 1}), {"stg_canal_json": "no"}, []), None, 1, ""),
        (GOOD, OSError(28, "No space left on device"), 1, "r.html: No space left on device."),
        (GOOD, ProjectError("dbt can't read it."), 1, "The report failed: dbt can't read it."),
        (
            GOOD,
            ConnectionError("Java is gone"),
            1,
            "The report failed: Spark's Java process has ended",
        ),
    ],
)
def test_each_round_ends_with_a_report(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    outcome: DbtOutcome,
    error: Exception | None,
    exit_code: int,
    message: str,
) -> None:
    written = []

    @contextmanager
    def session(*_: object, **__: object) -> Iterator[str]:
        yield "the session of the round"

    def write(session: object, _: object, output: Path) -> None:
        written.append((session, output))
        if error is not None:
            raise error

    monkeypatch.setattr(cli_rounds, "open_session", session)
    monkeypatch.setattr(cli_rounds, "outcome_of_dbt", lambda *_: outcome)
    monkeypatch.setattr(cli_rounds, "write_report", write)
    output = tmp_path / "r.html"

    result = run_command("run", "--report", output)

    assert written == [("the session of the round", output)]
    assert result.exit_code == exit_code, result.output
    assert message in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--report", "no/such/folder/r.html"], "no/such/folder/r.html: its folder does not exist"),
        (["--report", "."], "The page can't be written to ., which is a folder. Name a file."),
        (["--max-failures", "2"], "--max-failures goes with --every"),
        (["--every", "0s"], "--every needs a time span above 0"),
        (["--every", "366d"], "--every needs a time span above 0, up to 365d"),
        (["--every", "soon"], "--every needs a time span such as"),
        (["--format", "canal_json"], "need --bootstrap-servers, or files"),
        (["--topics", "shop"], "--topics needs --bootstrap-servers."),
        (
            ["m.jsonl", "--start", "latest", "--skip-lost"],
            "--start, --skip-lost need --bootstrap-servers.",
        ),
        (["messages.jsonl", "--every", "5m"], "Files land once"),
        (["--bootstrap-servers", "h:1"], "Name the format with --format"),
        (["--bootstrap-servers", "h:1", "--format", "canal_json"], "--format needs --topics"),
    ],
)
def test_use_that_is_wrong_says_so_before_spark_starts(options: list[str], message: str) -> None:
    with no_session():
        result = run_command("run", *options)

    assert result.exit_code == 2
    assert message in " ".join(result.stderr.replace("│", "").split())
