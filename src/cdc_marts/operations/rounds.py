"""A run in rounds: messages land, then dbt runs, once or repeatedly.

A round begins only after the round before it has ended. Rounds begin at multiples of `every`
seconds after the first one. If a round takes longer, the beginnings that it missed are left out.
"""

from __future__ import annotations

import datetime as dt
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cdc_marts.landing import LandingError
from cdc_marts.printing import one_line
from cdc_marts.project.dbt_commands import NEXT_RUN_CONTINUES
from cdc_marts.project.session import known_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdc_marts.landing.outcome import Landing
    from cdc_marts.project.dbt_commands import DbtOutcome


@dataclass
class Round:
    """The outcome of a round."""

    number: int
    started_at: dt.datetime
    #: one for each format that has landed
    landings: list[Landing] = field(default_factory=list)
    #: None if nothing was to land, or landing failed
    landing_seconds: float | None = None
    #: None if landing failed
    dbt: DbtOutcome | None = None
    dbt_seconds: float = 0.0
    #: why the round failed; None if it succeeded
    failure: str | None = None

    @property
    def landed(self) -> int:
        return sum(landing.messages.total() for landing in self.landings)


def run_round(
    number: int,
    land: Callable[[], Iterable[Landing]] | None,
    build: Callable[[], DbtOutcome],
    explain: Callable[[BaseException], str],
    clock: Callable[[], float] = time.monotonic,
) -> Round:
    """Land and build, and return the outcome. An error in either is the failure of the round.

    `land` is None if something else lands messages. If landing fails, nothing is built; the outcome
    has the formats that had landed before. `explain` returns what a person needs to know of an
    error.
    """
    known: tuple[type[BaseException], ...] = (LandingError, *known_errors())
    done = Round(number, dt.datetime.now(dt.timezone.utc))
    try:
        if land is not None:
            began = clock()
            for landing in land():
                done.landings.append(landing)
            done.landing_seconds = clock() - began
        began = clock()
        done.dbt = build()
        done.dbt_seconds = clock() - began
    except known as error:
        done.failure = one_line(explain(error))
    else:
        if not done.dbt.has_succeeded:
            done.failure = done.dbt.refusal or f"Nodes of dbt failed. {NEXT_RUN_CONTINUES}"
    return done


def is_alive(session: SparkSession) -> bool:
    """Return whether Spark still answers."""
    from py4j.protocol import Py4JError

    try:
        context: Any = session.sparkContext._jsc
        return context is not None and not context.sc().isStopped()
    except (Py4JError, ConnectionError):
        return False


class StopRequest:
    """A request to this process to end: made once, it ends soon; made twice, it ends now."""

    def __init__(self, on_request: Callable[[], None] = lambda: None) -> None:
        """Call `on_request` at the first request."""
        self._on_request = on_request
        self._is_made = threading.Event()

    @property
    def is_made(self) -> bool:
        return self._is_made.is_set()

    def make(self, *_: object) -> None:
        """Make the request. If it was made before, raise `KeyboardInterrupt`."""
        if self.is_made:
            raise KeyboardInterrupt
        self._is_made.set()
        self._on_request()

    def wait(self, seconds: float) -> None:
        """Wait until the request is made, but at most so many seconds."""
        self._is_made.wait(seconds)

    @contextmanager
    def by_signals(self) -> Iterator[None]:
        """Make the request at SIGTERM and SIGINT while the block runs.

        It must run on the main thread.
        """
        numbers = (signal.SIGTERM, signal.SIGINT)
        before: dict[signal.Signals, Any] = {n: signal.signal(n, self.make) for n in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@dataclass
class Rounds:
    """Rounds at regular times, until a request to stop, or until too many failed."""

    #: seconds from the beginning of a round to the beginning of the next one
    every: float
    stop: StopRequest
    #: rounds end after so many failures in a row; None for no such limit
    max_failures: int | None = None
    #: seconds that never go back
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] | None = None
    #: failures in a row, up to now
    failures: int = field(default=0, init=False)

    def run(self, one_round: Callable[[int], bool], rest: Callable[[float], None]) -> bool:
        """Run rounds; return True if a request ended them, and False if too many failed.

        `one_round` gets the number of the round, from 1, and returns whether it succeeded. `rest`
        is called after each round with the seconds until the next one.
        """
        wait = self.wait or self.stop.wait
        first, number = self.clock(), 0
        while not self.stop.is_made:
            number += 1
            self.failures = 0 if one_round(number) else self.failures + 1
            if self.max_failures is not None and self.failures >= self.max_failures:
                return False
            if self.stop.is_made:
                break
            passed = self.clock() - first
            seconds = self.every - passed % self.every
            rest(seconds)
            wait(seconds)
        return True
