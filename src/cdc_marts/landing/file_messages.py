"""Files of messages, read and checked before Spark starts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from cdc_marts.landing import WrongInput
from cdc_marts.landing.checks import mistake_in
from cdc_marts.landing.envelopes import Message, WrongEnvelope, read_envelope
from cdc_marts.landing.lines import Advance, lines_of, name_of
from cdc_marts.landing.outcome import Place
from cdc_marts.landing.spool import Spool
from cdc_marts.landing.topic_map import SKIP, TopicMap

#: Where bare messages go.
BARE_PARTITION = 0

#: Called with where a wrong line stands (`file:line`) and what is wrong with it.
Report = Callable[[str, str], None]


class FileMessages:
    """The messages of some files, by format, until Spark takes them.

    Bare messages have the offsets 0, 1, … of their topic here; they land behind those that
    the topic has by then.
    """

    def __init__(self) -> None:
        self._spools = ExitStack()
        #: format -> messages of envelopes
        self.enveloped: dict[str, Spool] = {}
        #: format and topic -> bare messages
        self.bare: dict[tuple[str, str], Spool] = {}
        #: format -> topic and partition -> messages of envelopes, their first and last offset
        self.counts: dict[str, Counter[Place]] = defaultdict(Counter)
        self.offsets: dict[str, dict[Place, tuple[int, int]]] = defaultdict(dict)
        self.bare_counts: Counter[tuple[str, str]] = Counter()
        self.wrong_lines = 0
        #: messages of topics that the map leaves out
        self.skipped = 0

    def __enter__(self) -> FileMessages:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._spools.close()

    @property
    def formats(self) -> list[str]:
        """The formats of which there are messages."""
        return list(dict.fromkeys((*self.enveloped, *(f for f, _ in self.bare))))

    def add(self, source_format: str, message: Message) -> None:
        """A message of an envelope."""
        if source_format not in self.enveloped:
            self.enveloped[source_format] = self._spools.enter_context(Spool())
        self.enveloped[source_format].add(message)
        place = message.topic, message.partition
        self.counts[source_format][place] += 1
        offsets = self.offsets[source_format]
        first, last = offsets.get(place, (message.offset, message.offset))
        offsets[place] = min(first, message.offset), max(last, message.offset)

    def add_bare(self, source_format: str, topic: str, line: bytes) -> None:
        """A message without coordinates."""
        key = source_format, topic
        if key not in self.bare:
            self.bare[key] = self._spools.enter_context(Spool())
        offset = self.bare_counts[key]
        self.bare[key].add(Message(topic, BARE_PARTITION, offset, None, None, line))
        self.bare_counts[key] += 1


def read_files(
    messages: FileMessages,
    paths: Sequence[Path],
    topics: TopicMap,
    topic: str | None = None,
    report: Report = lambda *_: None,
    advance: Advance = lambda _: None,
) -> None:
    """Fill `messages` with those of `paths`.

    Lines are envelopes, whose wrong ones are reported and left out.  They are bare messages of
    `topic` where it is given, or of the topic that the map has for a file's name.  `WrongInput`
    where a file is not what it should be, or a topic has no format, and `LandingError` where a file
    can't be read to its end: nothing may land then.
    """
    topic_of = {path: topic or topics.topic_of_file(path) for path in paths}
    for path in paths:
        if mistake := mistake_in(path, is_bare=topic_of[path] is not None):
            raise WrongInput(mistake)
    for path in paths:
        bare_topic = topic_of[path]
        if bare_topic is None:
            _read_envelopes(messages, path, topics, report, advance)
        else:
            source_format = _format_of(topics, bare_topic, name_of(path))
            for _, line in lines_of(path, advance):
                messages.add_bare(source_format, bare_topic, line)


def _read_envelopes(
    messages: FileMessages, path: Path, topics: TopicMap, report: Report, advance: Advance
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
