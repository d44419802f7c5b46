"""Options of `cdc-marts land …` and `cdc-marts run` that say what lands."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_marts.cli.console import WRONG_USE, stop
from cdc_marts.cli.options import SourceFormat, source_format_of, utc
from cdc_marts.landing import LandingError
from cdc_marts.source_formats import SOURCE_FORMATS

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


@dataclass(frozen=True)
class KafkaOptions:
    """The options that say what lands from Kafka, besides its format or map."""

    servers: Annotated[
        str | None,
        typer.Option(
            "--bootstrap-servers",
            metavar="HOST:PORT,...",
            help="Kafka brokers to connect to first.",
        ),
    ] = None
    topics: Annotated[
        str | None,
        typer.Option(
            metavar="TOPIC,...",
            help="With --format: the topics to land, or patterns such as 'orders_*'.",
        ),
    ] = None
    properties: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A Java properties file with settings of the Kafka client, such as"
            " security.protocol and sasl.jaas.config.",
        ),
    ] = None
    start: Annotated[
        str,
        typer.Option(
            "--start",
            metavar="WHERE",
            help="Where to start in a topic that has not landed before: earliest, latest, or a"
            " time such as 2026-11-22T08:00 (UTC).",
        ),
    ] = "earliest"
    max_messages: Annotated[
        int | None,
        typer.Option(
            metavar="COUNT",
            min=1,
            help="Land at most this many messages. The next landing resumes after them.",
        ),
    ] = None
    skip_lost: Annotated[
        bool,
        typer.Option(
            "--skip-lost", help="Resume after messages that Kafka deleted before they landed."
        ),
    ] = False

    def refuse_without_servers(self) -> None:
        """Raise `typer.BadParameter` if options were given, but no servers."""
        given = [
            f"--{field.name.replace('_', '-')}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        if given and self.servers is None:
            raise typer.BadParameter(
                f"{', '.join(given)} {'needs' if len(given) == 1 else 'need'} --bootstrap-servers."
            )

    def subscription(
        self, source_format: SourceFormat | None, map_file: Path | None, moved: bool = False
    ) -> Subscription:
        """Return the part of Kafka that lands, as these options say it."""
        from cdc_marts.landing.kafka import Subscription

        if self.servers is None:
            raise typer.BadParameter("--bootstrap-servers is missing: name the Kafka brokers.")
        if source_format is not None and self.topics is None:
            raise typer.BadParameter("--format needs --topics: the topics of this format.")
        topics = topic_map(source_format, map_file, self.topics)
        if self.properties is not None:
            check_file(self.properties)
        servers = names_in(self.servers, "--bootstrap-servers")
        if not all(map(_SERVER.fullmatch, servers)):
            raise typer.BadParameter(f"--bootstrap-servers needs HOST:PORT,…, not {self.servers}.")
        return Subscription(
            self.servers,
            topics,
            is_strict=map_file is None,
            properties=self.properties,
            start=_start(self.start),
            skip_lost=self.skip_lost,
            moved=moved,
            max_messages=self.max_messages,
        )


#: The options of Kafka if a command is given none of them.
NO_KAFKA = KafkaOptions()


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
