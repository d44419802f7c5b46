"""The formats of topics, from options or from a file.

    topics:
      orders: canal_json             # a topic
      payments_*: canal_json         # every topic whose name fits a pattern
      payments_dead_letters: skip    # a topic that never lands
    files:
      orders-*.txt: orders           # file name: the topic of its bare messages

A name counts before a pattern, and an earlier pattern before a later one. Patterns are as in a
shell: `*`, `?` and `[…]`. No topic can have these characters in its name.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from cdc_marts.landing import LandingError
from cdc_marts.printing import one_line
from cdc_marts.source_formats import SOURCE_FORMATS, no_such_format

#: A value in place of a format: messages of the topic are left out.
SKIP = "skip"

_TOPICS, _FILES = "topics", "files"
_WILDCARDS = frozenset("*?[")


def is_pattern(name: str) -> bool:
    return not _WILDCARDS.isdisjoint(name)


@dataclass(frozen=True)
class TopicMap:
    """Topics with their formats. `source`: the option or file that names them."""

    source: str
    #: topic or pattern -> a format, or `SKIP`
    formats: Mapping[str, str]
    #: pattern of file names -> the topic of the bare messages in such files
    files: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, source_format: str, topics: Iterable[str] = ("*",)) -> TopicMap:
        """Return a map of topics, or patterns, whose messages have one format."""
        return cls("--topics", dict.fromkeys(topics, source_format))

    @classmethod
    def read(cls, path: Path) -> TopicMap:
        """Return the map in a file. Raise `LandingError` with the wrong line and what to do."""
        return _File(path).topic_map()

    def format_of(self, topic: str) -> str | None:
        """Return the format of a topic, or `SKIP`; None if the map does not name the topic."""
        if topic in self.formats:
            return self.formats[topic]
        return next((self.formats[p] for p in self.patterns if fnmatchcase(topic, p)), None)

    def topic_of_file(self, path: Path) -> str | None:
        """Return the topic of the bare messages in a file; None if the file has envelopes."""
        return next((t for name, t in self.files.items() if fnmatchcase(path.name, name)), None)

    @property
    def names(self) -> list[str]:
        """The topics that are named, without skipped topics."""
        return [n for n, found in self.formats.items() if not is_pattern(n) and found != SKIP]

    @property
    def patterns(self) -> list[str]:
        return [name for name in self.formats if is_pattern(name)]


class _File:
    """The file of a map. Errors name the line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._formats: dict[str, str] = {}

    def topic_map(self) -> TopicMap:
        members = self._loaded()
        for name in members:
            if name not in (_TOPICS, _FILES):
                meant = difflib.get_close_matches(str(name), (_TOPICS, _FILES), n=1)
                hint = f" Did you mean {meant[0]}?" if meant else ""
                self._refuse(
                    members, name, f"there is no setting {name!r}, only topics and files.{hint}"
                )
        self._formats = self._texts(members, _TOPICS)
        if not self._formats:
            raise LandingError(
                f"{self._path} names no topics. List each topic with its format below `topics:`,"
                " such as `orders: canal_json`."
            )
        topics = members[_TOPICS]
        for topic, source_format in self._formats.items():
            if source_format not in (*SOURCE_FORMATS, SKIP):
                hint = f"{no_such_format(source_format)} {SKIP} leaves a topic out."
                self._refuse(topics, topic, hint)
        files = self._texts(members, _FILES)
        found = TopicMap(str(self._path), self._formats, files)
        for pattern, topic in files.items():
            if "/" in pattern:
                self._refuse(
                    members[_FILES],
                    pattern,
                    f"{pattern!r} names a folder. Write a pattern of the file's name alone.",
                )
            if found.format_of(topic) in (None, SKIP):
                self._refuse(
                    members[_FILES],
                    pattern,
                    f"the topic {topic} has no format. Add it below `topics:`.",
                )
        return found

    def _loaded(self) -> CommentedMap:
        try:
            loaded = YAML().load(self._path.read_text("utf-8-sig"))
        except OSError as error:
            raise LandingError(f"{self._path} can't be read: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise LandingError(f"{self._path} is not UTF-8 at byte {error.start + 1}.") from error
        except MarkedYAMLError as error:
            mark = error.problem_mark
            line = f":{mark.line + 1}" if mark else ""
            problem = one_line(error.problem)
            raise LandingError(f"{self._path}{line}: this is not YAML: {problem}.") from None
        except YAMLError as error:
            raise LandingError(f"{self._path}: this is not YAML: {error}.") from None
        if not isinstance(loaded, CommentedMap):
            raise LandingError(
                f"{self._path} is no map of topics. Write `topics:`, and below it a line for each"
                " topic, such as `  orders: canal_json`."
            )
        return loaded

    def _texts(self, members: CommentedMap, name: str) -> dict[str, str]:
        """Return the entries below a setting; none if the setting is missing."""
        found = members.get(name)
        if found is None:
            return {}
        if not isinstance(found, CommentedMap):
            self._refuse(members, name, f"`{name}` needs lines such as `  orders: canal_json`.")
        for key, value in found.items():
            if not isinstance(key, str):
                self._refuse(found, key, f"{key!r} is no text. Put it between quotes.")
            if not isinstance(value, str):
                self._refuse(found, key, f"{key} needs a name after the colon, not {value!r}.")
        return dict(found)

    def _refuse(self, members: CommentedMap, name: Any, reason: str) -> NoReturn:
        try:
            line, _ = members.lc.key(name)
        except (KeyError, TypeError):
            # An entry of a merged map (`<<`) has no line of its own.
            line = members.lc.line
        raise LandingError(f"{self._path}:{line + 1}: {reason}")
