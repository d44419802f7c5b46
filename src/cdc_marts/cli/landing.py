"""`cdc-marts land`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import DownloadColumn

from cdc_marts.cli.console import FAILED, WRONG_USE, errors, progress_bar, say, stop, tell
from cdc_marts.cli.landing_options import (
    NO_KAFKA,
    KafkaOptions,
    MapFile,
    OneFormat,
    check_file,
    names_in,
    topic_map,
)
from cdc_marts.cli.options import on_target, shown_first
from cdc_marts.cli.session import open_session
from cdc_marts.landing import LandingError, WrongInput
from cdc_marts.package_files import DATAHUB_SDK, DBT
from cdc_marts.printing import counted, printable
from cdc_marts.project.inventory import relations_of
from cdc_marts.project.locks import only_run
from cdc_marts.project.target import Target
from cdc_marts.source_formats import SOURCE_FORMATS, has_trait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdc_marts.landing.outcome import Landing
    from cdc_marts.landing.spool import SpooledMessages
    from cdc_marts.landing.topic_map import TopicMap

#: The most reports, and partitions, that are shown one by one; the others are counted.
_MOST_REPORTS = 100
_MOST_PARTITIONS = 20

land_app = typer.Typer(help="Append messages to the landing tables.", no_args_is_help=True)


@land_app.command("files")
@on_target
def land_files(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH",
            help="Files to land, in this order. The name - is stdin; a .gz file is decompressed.",
        ),
    ],
    source_format: OneFormat = None,
    map_file: MapFile = None,
    topic: Annotated[
        str | None,
        typer.Option(
            metavar="TOPIC",
            help="Each line is a bare message of this topic. It lands in partition 0, after the"
            " offsets that the topic already has.",
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option("--again", help="Also land files of bare messages that have landed before."),
    ] = False,
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

    With --topic, each line is the message itself. Blank lines are skipped. A file
    with the name and the messages of one that has landed is left out. With
    --again it lands again, and its messages count twice.

    With --map, the messages may have several formats: the map names the format
    of each topic.
    """
    from cdc_marts.landing.spool import SpooledMessages
    from cdc_marts.landing.topic_map import SKIP

    topics = topic_map(source_format, map_file)
    for path in paths:
        check_file(path)
    if topic is not None and not topic.strip():
        raise typer.BadParameter("--topic needs a name.")
    name = None if topic is None else topics.format_of(topic)
    if name == SKIP:
        raise typer.BadParameter(
            f"{map_file} skips the topic {topic}. Give the topic a format there, or name another"
            " topic with --topic."
        )

    with SpooledMessages() as messages:
        read_with_progress_bar(messages, paths, topics, topic)
        if messages.formats:
            _land(messages, target, again)
        else:
            tell(f"Landed 0 messages: the files contain none (target {target.name}).")
        if messages.skipped:
            tell(
                f"Left out {counted(messages.skipped, 'message')} of topics that {map_file} skips."
            )
        if messages.wrong_lines:
            tell(f"Skipped {counted(messages.wrong_lines, 'invalid line')}, reported above.")
        if messages.formats:
            tell(f"Next: {DBT} build --target {target.name}")
        if messages.wrong_lines:
            raise typer.Exit(FAILED)


@land_app.command("kafka")
@shown_first("servers", "source_format", "topics")
@on_target
def land_kafka(
    source_format: OneFormat = None,
    map_file: MapFile = None,
    kafka: KafkaOptions = NO_KAFKA,
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
    """Land the new messages of Kafka topics. Each message counts exactly once.

    Each partition resumes after its highest landed offset; new partitions, and
    new topics that fit a pattern, are discovered automatically. The messages of
    a format are one commit: if a landing is killed, either all of them have
    landed or none.

    The command lands nothing and exits with 1 if Kafka deleted messages before
    they landed, or if a topic was deleted and created again. If the time of a
    message can't be read, its partition lands up to it and all others land; the
    exit code is 1.
    """
    wanted = kafka.subscription(source_format, map_file, moved)
    from cdc_marts.landing.kafka import PACKAGES
    from cdc_marts.landing.kafka import land_kafka as land_topics

    failed = "Spark failed; the next landing resumes after the landed offsets"
    landings: list[Landing] = []
    failure = None
    with (
        open_session(target, failed, PACKAGES) as session,
        errors.status("Landing from Kafka") as status,
    ):
        try:
            for landing in land_topics(session, wanted, say, relations_of(target)):
                landings.append(landing)
                status.stop()
                _summarize_kafka(landing, target.name)
                status.start()
        except LandingError as error:
            failure = str(error)
    has_landed = any(landing.messages for landing in landings)
    if has_landed:
        tell(f"Next: {DBT} build --target {target.name}")
    if waiting := sum(landing.waiting for landing in landings):
        tell(f"Up to {counted(waiting, 'message')} still wait in Kafka. Run the command again.")
    if failure is not None:
        stop(failure if has_landed else f"{failure} Nothing was landed.", FAILED)


@land_app.command("datahub")
@on_target
def land_datahub(
    endpoint: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="The endpoint of DataHub, such as https://dh-cn-hangzhou.aliyuncs.com.",
        ),
    ],
    topics: Annotated[
        str,
        typer.Option(
            metavar="PROJECT.TOPIC,...",
            help="The topics to land. A topic may be a pattern: 'shop.orders_*'.",
        ),
    ],
    skip_lost: Annotated[
        bool,
        typer.Option(
            "--skip-lost", help="Resume after records that DataHub deleted before they landed."
        ),
    ] = False,
    *,
    target: Target,
) -> None:
    """Land the new records of DataHub topics.

    TUPLE topics land as datahub_tuple, and BLOB topics as datahub_blob. Each
    shard resumes after its highest landed sequence; new shards, and new topics
    that fit a pattern, are discovered automatically. The access key comes from
    ALIBABA_CLOUD_ACCESS_KEY_ID and ALIBABA_CLOUD_ACCESS_KEY_SECRET, and a token
    from ALIBABA_CLOUD_SECURITY_TOKEN.

    The command needs the Python SDK of DataHub. In the clone, run it as
    ./run --extra datahub cdc-marts land datahub; in a project of your own, first
    run pip install 'cdc-marts[datahub]'.
    """
    names = names_in(topics, "--topics")
    if not endpoint.startswith(("http://", "https://")):
        raise typer.BadParameter(f"--endpoint needs a URL with http or https, not {endpoint}.")
    try:
        from cdc_marts.landing.datahub import Credentials, DataHubTopics
        from cdc_marts.landing.datahub import land_datahub as land_topics
    except ModuleNotFoundError as error:
        if error.name != "datahub":
            raise
        stop(f"DataHub needs its Python SDK: `{DATAHUB_SDK}`.", WRONG_USE)
    try:
        credentials = Credentials(
            os.environ["ALIBABA_CLOUD_ACCESS_KEY_ID"],
            os.environ["ALIBABA_CLOUD_ACCESS_KEY_SECRET"],
            os.environ.get("ALIBABA_CLOUD_SECURITY_TOKEN", ""),
        )
    except KeyError as error:
        stop(f"The environment variable {error.args[0]} is missing.", WRONG_USE)

    failed = "Spark failed; the next landing resumes after the landed sequences"
    try:
        datahub = DataHubTopics(endpoint, credentials)
        found = datahub.topics(names)
        if not found:
            raise LandingError(f"{endpoint} has no topic {topics}. Check --topics and --endpoint.")
        with open_session(target, failed) as session, errors.status("Landing from DataHub"):
            relations = relations_of(target)
            landings = list(land_topics(session, datahub, found, skip_lost, say, relations))
    except LandingError as error:
        stop(f"{error} Nothing was landed.", FAILED)
    for landing in landings:
        summarize(landing, target.name)
    if landings:
        tell(f"Next: {DBT} build --target {target.name}")
    else:
        names = [printable(topic.full_name) for topic in found]
        tell(f"{', '.join(names)}: no new records (target {target.name}).")


def _summarize_kafka(landing: Landing, target: str) -> None:
    if landing.messages:
        summarize(landing, target)
    else:
        names = ", ".join(map(printable, landing.topics))
        tell(f"{names}: no new messages for {landing.table} (target {target}).")


def summarize(landing: Landing, target: str) -> None:
    """Tell what landed in the table of a format."""
    partitions = sorted(landing.messages)
    count = sum(landing.messages.values())
    tell(f"Landed {counted(count, 'message')} in {landing.table} (target {target}).")
    for topic, partition in islice(partitions, _MOST_PARTITIONS):
        first, last = landing.offsets[topic, partition]
        tell(
            f"  {printable(topic)}, partition {partition}:"
            f" {counted(landing.messages[topic, partition], 'message')}, offsets {first} to {last}"
        )
    if len(partitions) > _MOST_PARTITIONS:
        tell(f"  and {counted(len(partitions) - _MOST_PARTITIONS, 'partition')} more")
    if landing.repeated:
        tell(f"  {counted(landing.repeated, 'message')} had landed before, and count once.")


def read_with_progress_bar(
    messages: SpooledMessages, paths: Sequence[Path], topics: TopicMap, topic: str | None
) -> None:
    """Read files before Spark starts. A wrong file ends the command."""
    from cdc_marts.landing.file_messages import read_files

    bare_topics = [topic or topics.topic_of_file(path) for path in paths]
    formats = {topics.format_of(bare) for bare in bare_topics if bare}
    for name in SOURCE_FORMATS:
        if name in formats and has_trait(name, "has_binary_messages"):
            say(
                f"Messages of {name} are binary, and a line break inside a message splits it. Use"
                " envelopes with value_base64 to land such messages whole."
            )

    reports = 0

    def report(place: str, reason: str) -> None:
        nonlocal reports
        reports += 1
        if reports <= _MOST_REPORTS:
            say(f"{place}: {reason}")

    with progress_bar(DownloadColumn()) as progress:
        task = progress.add_task("", total=_total_size(paths))
        try:
            read_files(
                messages,
                paths,
                topics,
                topic,
                report=report,
                advance=lambda count: progress.advance(task, count),
            )
        except WrongInput as error:
            stop(f"{error} Nothing was landed.", WRONG_USE)
        except LandingError as error:
            stop(f"{error} Nothing was landed.", FAILED)
    if reports > _MOST_REPORTS:
        say(f"and {reports - _MOST_REPORTS:,} more invalid lines")


def land_spooled(
    session: SparkSession, messages: SpooledMessages, target: Target, again: bool = False
) -> Iterator[Landing]:
    """Land messages that were read from files, and yield the landing of each format.

    Bare messages take the next offsets of their topics. Two landings at a time would take the same
    offsets, so each waits for its turn. `again`: whether files of bare messages land that have
    landed before.
    """
    from cdc_marts.landing import files

    relations = relations_of(target)
    turn = only_run(session, target, say) if messages.bare else nullcontext(lambda: None)
    with turn as check_turn:
        yield from files.land_files(session, messages, relations, check_turn, again, say)


def _land(messages: SpooledMessages, target: Target, again: bool) -> None:
    failed = "Spark failed, and only the messages that are reported above have landed"
    has_landed = False
    with open_session(target, failed) as session:
        try:
            for landing in land_spooled(session, messages, target, again):
                has_landed = True
                summarize(landing, target.name)
        except LandingError as error:
            stop(f"{error} Nothing was landed.", FAILED)
    if not has_landed:
        tell(f"Landed 0 messages: all files have landed before (target {target.name}).")


def _total_size(paths: Sequence[Path]) -> int | None:
    """Return the number of bytes to read; None if a path is a pipe."""
    if all(path.is_file() for path in paths):
        return sum(path.stat().st_size for path in paths)
    return None
