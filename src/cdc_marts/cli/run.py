"""`cdc-marts run`."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_marts.cli.console import FAILED, say
from cdc_marts.cli.landing import land_spooled, read_with_progress_bar
from cdc_marts.cli.landing_options import (
    NO_KAFKA,
    KafkaOptions,
    MapFile,
    OneFormat,
    check_file,
    topic_map,
)
from cdc_marts.cli.options import SourceFormat, on_target, time_span
from cdc_marts.cli.report import check_report
from cdc_marts.cli.rounds import Lander, RoundRunner
from cdc_marts.project.inventory import relations_of
from cdc_marts.project.target import Target

if TYPE_CHECKING:
    from cdc_marts.landing.kafka import Subscription
    from cdc_marts.landing.spool import SpooledMessages

#: The longest time between two rounds.
_LONGEST_REST = dt.timedelta(days=365)
#: dbt's unit tests test the SQL, not the data.
_BUILD = ("build", "--exclude-resource-type", "unit_test")


@on_target
def run(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Files of messages to land."),
    ] = None,
    source_format: OneFormat = None,
    map_file: MapFile = None,
    kafka: KafkaOptions = NO_KAFKA,
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
    """Land new messages, build the models and test them, in one Spark start.

    Messages come from Kafka (--bootstrap-servers) or from files. Without
    either, the command builds what has landed already.

    With --every, the rounds share one Spark session and never overlap. A round
    that fails is reported, and the next one tries again. SIGTERM or Ctrl-C lets
    the current round end, and a second one abandons it; the exit code is 0.
    """
    from cdc_marts.landing.spool import SpooledMessages

    seconds = _seconds_between_rounds(every, max_failures)
    if paths and (kafka.servers or seconds is not None):
        raise typer.BadParameter("Files land once: leave out --bootstrap-servers and --every.")
    kafka.refuse_without_servers()
    if report is not None:
        check_report(report)
    with SpooledMessages() as messages:
        lander = _lander(messages, paths or [], source_format, map_file, kafka, target)
        dbt = _command_of_dbt(select, with_tests)
        rounds = RoundRunner(target, lander, dbt, report, is_verbose)
        has_succeeded = (
            rounds.run_once() if seconds is None else rounds.repeat(seconds, max_failures)
        )
        if not has_succeeded or messages.wrong_lines:
            raise typer.Exit(FAILED)


def _seconds_between_rounds(every: str | None, max_failures: int | None) -> float | None:
    """Return the value of `--every` in seconds; None for one round."""
    if every is None:
        if max_failures is not None:
            raise typer.BadParameter("--max-failures goes with --every.")
        return None
    span = time_span(every, "--every")
    if not dt.timedelta(0) < span <= _LONGEST_REST:
        raise typer.BadParameter(f"--every needs a time span above 0, up to {_LONGEST_REST.days}d.")
    return span.total_seconds()


def _lander(
    messages: SpooledMessages,
    paths: Sequence[Path],
    source_format: SourceFormat | None,
    map_file: Path | None,
    kafka: KafkaOptions,
    target: Target,
) -> Lander:
    """Return the lander of what the options name. Read files now, into `messages`."""
    if kafka.servers is not None:
        return _lander_of_kafka(kafka.subscription(source_format, map_file), target)
    if paths:
        _read_files(messages, paths, source_format, map_file)
        return Lander(lambda session: land_spooled(session, messages, target))
    if source_format or map_file:
        raise typer.BadParameter("--format and --map need --bootstrap-servers, or files.")
    return Lander()


def _read_files(
    messages: SpooledMessages,
    paths: Sequence[Path],
    source_format: SourceFormat | None,
    map_file: Path | None,
) -> None:
    """Read files before Spark starts. A wrong file ends the command."""
    topics = topic_map(source_format, map_file)
    for path in paths:
        check_file(path)
    read_with_progress_bar(messages, paths, topics, None)


def _command_of_dbt(select: str | None, with_tests: bool) -> list[str]:
    return [*(_BUILD if with_tests else ("run",)), *(("--select", select) if select else ())]


def _lander_of_kafka(wanted: Subscription, target: Target) -> Lander:
    from cdc_marts.landing import kafka

    # A message that each round would repeat is shown once.
    say_once = functools.cache(say)
    return Lander(
        lambda session: kafka.land_kafka(session, wanted, say_once, relations_of(target)),
        kafka.PACKAGES,
    )
