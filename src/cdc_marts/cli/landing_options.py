"""Options of `cdc-marts land …` and `cdc-marts run` that say what lands."""

from __future__ import annotations

import datetime as dt
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_marts.cli.console import WRONG_USE, stop
from cdc_marts.cli.options import SourceFormat, source_format_of
from cdc_marts.landing import LandingError
from cdc_marts.source_formats import SOURCE_FORMATS
from cdc_marts.times import utc_of

if TYPE_CHECKING:
    from cdc_marts.landing.kafka import Subscription
    from cdc_marts.landing.kafka_ranges import Start
    from cdc_marts.landing.topic_map import TopicMap

_SERVER = re.compile(r"\S+:\d+")

OneFormat = Annotated[
    SourceFormat | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        parser=source_format_of,
        help=f"The format of all messages: one of {', '.join(SOURCE_FORMATS)}.",
    ),
]
MapFile = Annotated[
    Path | None,
    typer.Option(
        "--map",
        metavar="FILE",
        help="A YAML file that names the format of each topic, for several formats in one landing.",
    ),
]
Servers = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-servers",
        metavar="HOST:PORT,...",
        help="Kafka brokers to connect to first.",
    ),
]
Topics = Annotated[
    str | None,
    typer.Option(
        metavar="TOPIC,...",
        help="With --format: the topics to land, or patterns such as 'orders_*'.",
    ),
]
Properties = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A Java properties file with settings of the Kafka client, such as"
        " security.protocol and sasl.jaas.config.",
    ),
]
StartAt = Annotated[
    str,
    typer.Option(
        "--start",
        metavar="WHERE",
        help="Where to start in a topic that has not landed before: earliest, latest, or a time"
        " such as 2026-11-22T08:00 (UTC).",
    ),
]
MaxMessages = Annotated[
    int | None,
    typer.Option(
        metavar="COUNT",
        min=1,
        help="Land at most this many messages. The next landing resumes after them.",
    ),
]
SkipLost = Annotated[
    bool,
    typer.Option(
        "--skip-lost",
        help="Resume after messages that Kafka deleted before they landed.",
    ),
]


def topic_map(
    source_format: SourceFormat | None, map_file: Path | None, topics: str | None = None
) -> TopicMap:
    """Return the topics with their formats, by `--map`, or by `--format` and `--topics`."""
    from cdc_marts.landing.topic_map import TopicMap

    if (source_format is None) == (map_file is None):
        raise typer.BadParameter(
            "Name the format with --format, or the formats of several topics with --map. The"
            f" formats are {', '.join(SOURCE_FORMATS)}."
        )
    if source_format is not None:
        names = ["*"] if topics is None else names_in(topics, "--topics")
        return TopicMap.of(source_format.value, names)
    assert map_file is not None
    check_file(map_file)
    if topics is not None:
        raise typer.BadParameter(
            "--topics goes with --format: with --map, the map names the topics."
        )
    try:
        return TopicMap.read(map_file)
    except LandingError as error:
        stop(str(error), WRONG_USE)


def subscription(
    servers: str,
    *,
    source_format: SourceFormat | None,
    map_file: Path | None,
    topics: str | None,
    properties: Path | None,
    start: str,
    max_messages: int | None,
    skip_lost: bool,
    moved: bool = False,
) -> Subscription:
    """Return the part of Kafka that lands, as these options say it."""
    from cdc_marts.landing.kafka import Subscription

    if source_format is not None and topics is None:
        raise typer.BadParameter("--format needs --topics: the topics of this format.")
    topics_by_format = topic_map(source_format, map_file, topics)
    if properties is not None:
        check_file(properties)
    if not all(_SERVER.fullmatch(server) for server in names_in(servers, "--bootstrap-servers")):
        raise typer.BadParameter(f"--bootstrap-servers needs HOST:PORT,…, not {servers}.")
    return Subscription(
        servers,
        topics_by_format,
        is_strict=map_file is None,
        properties=properties,
        start=_start(start),
        skip_lost=skip_lost,
        moved=moved,
        max_messages=max_messages,
    )


def _start(text: str) -> Start:
    from cdc_marts.landing.kafka_ranges import EARLIEST, Start

    if text == "earliest":
        return EARLIEST
    if text == "latest":
        return Start(is_latest=True)
    try:
        return Start(time=utc(text, "--start"))
    except typer.BadParameter:
        raise typer.BadParameter(
            f"--start needs earliest, latest, or a time such as 2026-11-22T08:00, not {text!r}."
        ) from None


def utc(text: str, option: str) -> dt.datetime:
    """Return a time, in UTC if it names no zone."""
    try:
        return utc_of(text)
    except ValueError:
        raise typer.BadParameter(
            f"{option} needs a time such as 2026-11-22T08:00, not {text!r}."
        ) from None


def names_in(text: str, option: str) -> list[str]:
    """Return the names in a list with commas, each once."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise typer.BadParameter(f"{option} needs names separated by commas, not {text!r}.")
    return list(dict.fromkeys(names))


def check_file(path: Path) -> None:
    """Raise if a file can't be read. `-` is stdin."""
    if str(path) == "-":
        return
    if not path.exists():
        raise typer.BadParameter(f"The file {path} does not exist.")
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder. Name its files.")
    if not os.access(path, os.R_OK):
        raise typer.BadParameter(f"This user may not read {path}.")
