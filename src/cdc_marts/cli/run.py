"""`cdc-marts run`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_marts.cli.console import FAILED, counted, errors, say, stop, tell
from cdc_marts.cli.landing import land_spooled, read_with_progress_bar
from cdc_marts.cli.landing_options import (
    MapFile,
    MaxMessages,
    OneFormat,
    Properties,
    Servers,
    SkipLost,
    StartAt,
    Topics,
    check_file,
    subscription,
    topic_map,
)
from cdc_marts.cli.options import on_target, time_span
from cdc_marts.cli.report import check_report, write_report
from cdc_marts.cli.session import open_session
from cdc_marts.operations.rounds import Round, Rounds, StopRequest, is_alive, run_round
from cdc_marts.printing import one_line, printable
from cdc_marts.project.dbt_commands import outcome_of_dbt
from cdc_marts.project.inventory import relations_of
from cdc_marts.project.session import explain, turn_to_write
from cdc_marts.project.target import ProjectError, Target

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdc_marts.landing.kafka import Subscription
    from cdc_marts.landing.outcome import Landing
    from cdc_marts.project.dbt_commands import DbtOutcome

#: dbt's unit tests test the SQL, not the data.
_BUILD = ("build", "--exclude-resource-type", "unit_test")
#: The most failures, and warnings, that are shown one by one; the others are counted.
_MOST_SHOWN = 10


@dataclass(frozen=True)
class _Lander:
    """A function that lands new messages in a session, if any, and the jars that it needs."""

    land: Callable[[SparkSession], Sequence[Landing]] | None = None
    packages: Sequence[str] = ()


@on_target
def run(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH...]", help="Files of messages to land."),
    ] = None,
    source_format: OneFormat = None,
    map_file: MapFile = None,
    servers: Servers = None,
    topics: Topics = None,
    properties: Properties = None,
    start: StartAt = "earliest",
    max_messages: MaxMessages = None,
    skip_lost: SkipLost = False,
    select: Annotated[
        str | None,
        typer.Option(metavar="SELECTION", help="The models to build, as dbt selects them."),
    ] = None,
    with_tests: Annotated[
        bool,
        typer.Option("--tests/--no-tests", help="Whether the data tests run too."),
    ] = True,
    every: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN",
            help="Run again and again in one Spark session: 30s, 5m, 1h. SIGTERM or Ctrl-C"
            " ends it.",
        ),
    ] = None,
    max_failures: Annotated[
        int | None,
        typer.Option(
            metavar="COUNT",
            min=1,
            help="With --every: exit with 1 when this many rounds in a row have failed.",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the page of `cdc-marts report` after each round, also after one that"
            " failed.",
        ),
    ] = None,
    is_verbose: Annotated[
        bool, typer.Option("--verbose", help="Show all that dbt prints, and not only errors.")
    ] = False,
    *,
    target: Target,
) -> None:
    """Land new messages, build the models, test them and report, in one Spark start.

    Messages come from Kafka (--bootstrap-servers) or from files. Without
    either, the command builds what has landed already.

    With --every, the rounds share one Spark session and never overlap. A round
    that fails is reported, and the next one tries again. SIGTERM or Ctrl-C lets
    the current round end, and a second one abandons it; the exit code is 0.
    """
    from cdc_marts.landing.spool import SpooledMessages

    span = _seconds_between_rounds(every, max_failures)
    if paths and (servers or span is not None):
        raise typer.BadParameter("Files land once: leave out --bootstrap-servers and --every.")
    of_kafka = {
        "--topics": topics,
        "--properties": properties,
        "--start": start != "earliest",
        "--max-messages": max_messages,
        "--skip-lost": skip_lost,
    }
    given = [option for option, value in of_kafka.items() if value]
    if servers is None and given:
        raise typer.BadParameter(f"This needs --bootstrap-servers: {', '.join(given)}.")
    if report is not None:
        check_report(report)
    with SpooledMessages() as messages:
        if servers is not None:
            wanted = subscription(
                servers,
                source_format=source_format,
                map_file=map_file,
                topics=topics,
                properties=properties,
                start=start,
                max_messages=max_messages,
                skip_lost=skip_lost,
            )
            lander = _lander_of_kafka(wanted, target)
        elif paths:
            topics_by_format = topic_map(source_format, map_file)
            for path in paths:
                check_file(path)
            read_with_progress_bar(messages, paths, topics_by_format, None)
            lander = _Lander(lambda session: list(land_spooled(session, messages, target)))
        elif source_format or map_file:
            raise typer.BadParameter("--format and --map need --bootstrap-servers, or files.")
        else:
            lander = _Lander()
        dbt = [*(_BUILD if with_tests else ("run",)), *(("--select", select) if select else ())]
        runner = _Runner(target, lander, dbt, report, is_verbose)
        has_succeeded = runner.run_once() if span is None else runner.repeat(span, max_failures)
        if not has_succeeded or messages.wrong_lines:
            raise typer.Exit(FAILED)


def _seconds_between_rounds(every: str | None, max_failures: int | None) -> float | None:
    """Return the value of `--every` in seconds; None for one round."""
    if every is None:
        if max_failures is not None:
            raise typer.BadParameter("--max-failures goes with --every.")
        return None
    if not (seconds := time_span(every, "--every").total_seconds()):
        raise typer.BadParameter("--every needs a time span above 0.")
    return seconds


def _lander_of_kafka(wanted: Subscription, target: Target) -> _Lander:
    from cdc_marts.landing import kafka

    # A message that each round would repeat is shown once.
    say_once = functools.cache(say)
    return _Lander(
        lambda session: kafka.land_kafka(session, wanted, say_once, relations_of(target)),
        kafka.PACKAGES,
    )


class _Runner:
    """The rounds on a target, and what is printed about them."""

    def __init__(
        self,
        target: Target,
        lander: _Lander,
        dbt: Sequence[str],
        report: Path | None,
        is_verbose: bool,
    ) -> None:
        self._target, self._lander = target, lander
        self._dbt, self._report, self._is_verbose = dbt, report, is_verbose

    def run_once(self) -> bool:
        """Run one round, and return whether it succeeded."""
        with open_session(self._target, packages=self._lander.packages) as session:
            return self._round(session, 1)

    def repeat(self, every: float, max_failures: int | None) -> bool:
        """Run rounds until they end, and return whether somebody asked for the end."""
        from dbt_common.exceptions import DbtRuntimeError

        stop_request = StopRequest(
            lambda: say("Stopping after this round. Another signal abandons it.")
        )
        rounds = Rounds(every, stop_request, max_failures)

        def in_turn(number: int) -> bool:
            try:
                with turn_to_write(self._target, say):
                    has_succeeded = self._round(session, number)
            except DbtRuntimeError as error:  # another process did not end in time
                say(f"Round {number} failed: {error.msg}")
                has_succeeded = False
            if not has_succeeded and not is_alive(session):
                stop("Spark's Java process has ended. Start the command again.", FAILED)
            return has_succeeded

        def rest(seconds: float) -> None:
            if rounds.failures:
                say(
                    f"{counted(rounds.failures, 'round')} failed in a row. The next one begins in"
                    f" {seconds:.0f} s."
                )

        with open_session(self._target, packages=self._lander.packages) as session:
            try:
                with stop_request.by_signals():
                    was_asked_to_end = rounds.run(in_turn, rest)
            except KeyboardInterrupt:
                say("The round was abandoned. The next run does the rest.")
                was_asked_to_end = True
        if not was_asked_to_end:
            say(f"Gave up after {counted(rounds.failures, 'failed round')} in a row.")
        return was_asked_to_end

    def _round(self, session: SparkSession, number: int) -> bool:
        with errors.status("Landing") as status:

            def build() -> DbtOutcome:
                if self._is_verbose:
                    status.stop()
                    return outcome_of_dbt(self._dbt, self._target)
                command = [*self._dbt, "--quiet"]
                status.update(f"dbt {self._dbt[0]}")
                return outcome_of_dbt(
                    command,
                    self._target,
                    lambda ended, total: status.update(
                        f"dbt {self._dbt[0]}: {ended} of {total} nodes"
                    ),
                )

            land = self._lander.land
            done = run_round(
                number,
                None if land is None else lambda: land(session),
                build,
                explain=lambda error: explain(error, self._target),
            )
        for line in lines_of(done, f"dbt {self._dbt[0]}"):
            tell(line)
        has_report = self._report is None or self._write_report(session, self._report)
        return done.failure is None and has_report

    def _write_report(self, session: SparkSession, output: Path) -> bool:
        """Write the page and return whether it was written. The next round tries again."""
        from dbt.adapters.spark_session.api import SPARK_ERRORS
        from dbt_common.exceptions import DbtBaseException

        try:
            with errors.status("Reporting"):
                write_report(session, self._target, output)
        except (DbtBaseException, ProjectError) as error:
            say(f"The report failed: {one_line(error)}")
        except SPARK_ERRORS as error:
            say(f"The report failed: {explain(error, self._target)}")
        except OSError as error:
            say(f"The page can't be written to {output}: {error.strerror}.")
        else:
            return True
        return False


def lines_of(done: Round, dbt: str) -> Iterator[str]:
    """Yield a line with the counts and times of a round, and a line for each failure."""
    parts = []
    formats = [
        f"{landing.source_format} {landing.messages.total():,}"
        for landing in done.landings
        if landing.messages
    ]
    if done.landing_seconds is not None:
        in_formats = f" ({', '.join(formats)})" if formats else ""
        parts.append(
            f"landed {counted(done.landed, 'message')}{in_formats} in {done.landing_seconds:.1f} s"
        )
        if repeated := sum(landing.repeated for landing in done.landings):
            parts.append(f"{repeated:,} of them had landed before")
        if waiting := sum(landing.waiting for landing in done.landings):
            parts.append(f"up to {counted(waiting, 'message')} still wait in Kafka")
    outcome = done.dbt
    if outcome is not None:
        nodes = ", ".join(f"{count:,} {status}" for status, count in sorted(outcome.nodes.items()))
        parts.append(f"{dbt}: {nodes or 'nothing'} in {done.dbt_seconds:.1f} s")
    what = "failed" if done.failure else "succeeded"
    yield (
        f"{done.started_at:%Y-%m-%d %H:%M:%S} UTC  round {done.number} {what}"
        + (f": {'; '.join(parts)}" if parts else "")
    )
    if done.failure:
        yield f"  {printable(done.failure)}"
    if outcome is not None:
        yield from _shown((f"{name}: {said}" for name, said in outcome.failed.items()), "failure")
        yield from _shown((f"{name} warns" for name in outcome.warned), "warning")


def _shown(lines: Iterable[str], thing: str) -> Iterator[str]:
    lines = list(lines)
    for line in lines[:_MOST_SHOWN]:
        yield f"  {printable(line)}"
    if len(lines) > _MOST_SHOWN:
        yield f"  and {counted(len(lines) - _MOST_SHOWN, thing)} more"
