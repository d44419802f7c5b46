"""`cdc-marts land`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import DownloadColumn

from cdc_marts.cli.console import FAILED, WRONG_USE, counted, errors, progress_bar, say, stop, tell
from cdc_marts.cli.options import Format, on_target
from cdc_marts.cli.session import open_session
from cdc_marts.package_files import DBT
from cdc_marts.printing import printable
from cdc_marts.project import Target, relations_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdc_marts.landing.outcome import Landing
    from cdc_marts.relations import Relations

#: So many are shown one by one; the others are counted.
_MOST_REPORTS = 100
_MOST_PARTITIONS = 20
_SERVER = re.compile(r"\S+:\d+")

land_app = typer.Typer(help="Append messages to the landing tables.", no_args_is_help=True)


@land_app.command("files")
@on_target
def land_files(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="Files to land, in this order. - reads stdin; a .gz file is decompressed.",
        ),
    ],
    source_format: Format,
    topic: Annotated[
        str | None,
        typer.Option(
            metavar="TOPIC",
            help="Each line is a bare message of this topic. It lands in partition 0, after the"
            " offsets that the topic already has.",
        ),
    ] = None,
    *,
    target: Target,
) -> None:
    """Land the messages of files, one message per line.

    Each line is an envelope:

    {"topic": "shop", "partition": 0, "offset": 7, "timestamp": 1760000000000,
    "key": null, "value": "the message as a string"}

    A binary message is in "value_base64" instead of "value". An invalid line is
    reported and skipped; the other lines land, and the exit code is 1. A topic,
    partition and offset that lands again counts once.

    With --topic, each line is the message itself. Landing such a file again
    lands its messages again. Blank lines are skipped.
    """
    for path in paths:
        _check(path)
    if topic is not None and not topic.strip():
        raise typer.BadParameter("--topic needs a name.")
    if topic is not None and source_format.value == "dts_avro":
        say(
            "Messages of dts_avro are binary, and a line break inside a message splits it. Use"
            " envelopes with value_base64 to land such messages whole."
        )
    from cdc_marts.landing.checks import mistake_in

    for path in paths:
        mistake = mistake_in(path, is_bare=topic is not None)
        if mistake is not None:
            stop(f"{mistake} Nothing was landed.", WRONG_USE)
    with open_session(target, "Spark failed, and nothing was landed") as session:
        landing = _land(session, source_format.value, paths, topic, relations_of(target))
    _summarize(landing, target.name)
    if landing.wrong_lines:
        raise typer.Exit(FAILED)


@land_app.command("kafka")
@on_target
def land_kafka(
    source_format: Format,
    servers: Annotated[
        str,
        typer.Option(
            "--bootstrap-servers",
            metavar="HOST:PORT,...",
            help="Kafka brokers to connect to first.",
        ),
    ],
    topics: Annotated[
        str,
        typer.Option(
            metavar="TOPIC,...", help="The topics to land. Their messages have one format."
        ),
    ],
    properties: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A Java properties file with settings of the Kafka client, such as"
            " security.protocol and sasl.jaas.config.",
        ),
    ] = None,
    max_messages: Annotated[
        int | None,
        typer.Option(
            metavar="COUNT",
            min=1,
            help="Land at most this many messages. The next landing resumes after them.",
        ),
    ] = None,
    skip_lost: Annotated[
        bool,
        typer.Option(
            "--skip-lost",
            help="Resume after messages that Kafka deleted before they landed.",
        ),
    ] = False,
    moved: Annotated[
        bool,
        typer.Option(
            "--moved",
            help="Resume in a topic that was moved to another cluster with its offsets.",
        ),
    ] = False,
    *,
    target: Target,
) -> None:
    """Land the new messages of Kafka topics, each message exactly once.

    Each partition resumes after its highest landed offset; new partitions are
    discovered automatically. A landing is one commit: if it is killed, either
    all of its messages have landed or none.

    The command lands nothing and exits with 1 if Kafka deleted messages before
    they landed, or if a topic was deleted and created again.
    """
    names = _names(topics, "--topics")
    if properties is not None:
        _check(properties)
    if not all(_SERVER.fullmatch(server) for server in _names(servers, "--bootstrap-servers")):
        raise typer.BadParameter(f"--bootstrap-servers needs HOST:PORT,…, not {servers}.")

    from cdc_marts.landing import LandingError, kafka

    failed = "Spark failed; the next landing resumes after the landed offsets"
    with (
        open_session(target, failed, kafka.PACKAGES) as session,
        errors.status("Landing from Kafka"),
    ):
        try:
            landing = kafka.land_kafka(
                session,
                source_format.value,
                servers,
                names,
                properties=properties,
                skip_lost=skip_lost,
                moved=moved,
                max_messages=max_messages,
                report=say,
                relations=relations_of(target),
            )
        except LandingError as error:
            stop(f"{error} Nothing was landed.", FAILED)
    if landing.messages:
        _summarize(landing, target.name)
    else:
        tell(f"{', '.join(names)}: no new messages for {landing.table} (target {target.name}).")
    if landing.waiting:
        tell(
            f"Up to {counted(landing.waiting, 'message')} still wait in Kafka. Run the command"
            " again."
        )


def _names(text: str, option: str) -> list[str]:
    """The names in a list with commas, each once."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise typer.BadParameter(f"{option} needs names separated by commas, not {text!r}.")
    return list(dict.fromkeys(names))


def _check(path: Path) -> None:
    if str(path) == "-":
        return
    if not path.exists():
        raise typer.BadParameter(f"The file {path} does not exist.")
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder. Name its files.")
    if not os.access(path, os.R_OK):
        raise typer.BadParameter(f"This user may not read {path}.")


def _land(
    session: SparkSession,
    source_format: str,
    paths: Sequence[Path],
    topic: str | None,
    relations: Relations,
) -> Landing:
    from cdc_marts.landing import LandingError, files

    reports = 0

    def report(place: str, reason: str) -> None:
        nonlocal reports
        reports += 1
        if reports <= _MOST_REPORTS:
            say(f"{place}: {reason}")

    with progress_bar(DownloadColumn()) as progress:
        task = progress.add_task("", total=_total_size(paths))
        try:
            landing = files.land_files(
                session,
                source_format,
                paths,
                topic,
                report=report,
                advance=lambda count: progress.advance(task, count),
                relations=relations,
            )
        except LandingError as error:
            stop(f"{error} Nothing was landed.", FAILED)
    if reports > _MOST_REPORTS:
        say(f"and {reports - _MOST_REPORTS:,} more invalid lines")
    return landing


def _summarize(landing: Landing, target: str) -> None:
    places = sorted(landing.messages)
    count = sum(landing.messages.values())
    tell(f"Landed {counted(count, 'message')} in {landing.table} (target {target}).")
    for topic, partition in islice(places, _MOST_PARTITIONS):
        first, last = landing.offsets[topic, partition]
        tell(
            f"  {printable(topic)}, partition {partition}:"
            f" {counted(landing.messages[topic, partition], 'message')}, offsets {first} to {last}"
        )
    if len(places) > _MOST_PARTITIONS:
        tell(f"  and {counted(len(places) - _MOST_PARTITIONS, 'partition')} more")
    if landing.wrong_lines:
        tell(f"Skipped {counted(landing.wrong_lines, 'invalid line')}, reported above.")
    if count:
        tell(f"Next: {DBT} build --target {target}")


def _total_size(paths: Sequence[Path]) -> int | None:
    """Bytes to read, None where a pipe is among the paths."""
    if all(path.is_file() for path in paths):
        return sum(path.stat().st_size for path in paths)
    return None
