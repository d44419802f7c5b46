"""Files of messages, read and checked before Spark starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from cdc_marts.landing import WrongInput
from cdc_marts.landing.checks import mistake_in
from cdc_marts.landing.envelopes import WrongEnvelope, read_envelope
from cdc_marts.landing.lines import Advance, lines_of, name_of
from cdc_marts.landing.spool import SpooledMessages
from cdc_marts.landing.topic_map import SKIP, TopicMap
from cdc_marts.source_formats import has_trait

#: A function of the place of a wrong line (`file:line`), and of what is wrong with it.
Report = Callable[[str, str], None]


def read_files(
    messages: SpooledMessages,
    paths: Sequence[Path],
    topics: TopicMap,
    topic: str | None = None,
    report: Report = lambda *_: None,
    advance: Advance = lambda _: None,
) -> None:
    """Add the messages of the files `paths` to `messages`.

    If `topic` is given, or the map has a topic for the name of a file, the lines of the file are
    bare messages of this topic. Otherwise, they are envelopes, and wrong ones are reported and left
    out. Raise `WrongInput` if a file is wrong as a whole, or if a topic has no format. Raise
    `LandingError` if a file can't be read to its end. Nothing may land then.
    """
    topic_of = {path: topic or topics.topic_of_file(path) for path in paths}
    for path in paths:
        bare_topic = topic_of[path]
        name = None if bare_topic is None else topics.format_of(bare_topic)
        is_binary = name is not None and has_trait(name, "has_binary_messages")
        if mistake := mistake_in(path, bare_topic is not None, is_binary):
            raise WrongInput(mistake)
    for path in paths:
        bare_topic = topic_of[path]
        if bare_topic is None:
            _read_envelopes(messages, path, topics, report, advance)
        else:
            source_format = _format_of(topics, bare_topic, name_of(path))
            lines = (line for _, line in lines_of(path, advance))
            messages.add_bare_file(source_format, bare_topic, path, lines)


def _read_envelopes(
    messages: SpooledMessages, path: Path, topics: TopicMap, report: Report, advance: Advance
) -> None:
    formats: dict[str, str] = {}
    for number, line in lines_of(path, advance):
        place = f"{name_of(path)}:{number}"
        try:
            message = read_envelope(line)
        except WrongEnvelope as error:
            messages.wrong_lines += 1
            report(place, str(error))
            continue
        if message.topic not in formats:
            formats[message.topic] = _format_of(topics, message.topic, place)
        source_format = formats[message.topic]
        if source_format == SKIP:
            messages.skipped += 1
        else:
            messages.add(source_format, message)


def _format_of(topics: TopicMap, topic: str, place: str) -> str:
    source_format = topics.format_of(topic)
    if source_format is None:
        raise WrongInput(
            f"{place}: {topics.source} names no format of the topic {topic!r}. Add the topic there,"
            f" with its format or with {SKIP}."
        )
    return source_format
