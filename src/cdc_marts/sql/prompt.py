"""The prompt of `cdc-marts sql`: history, completion, and queries that Ctrl-C cancels."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

from dbt.adapters.spark_session.api import activate
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, ThreadedCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.filters import completion_is_selected
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import SqlLexer
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

_EXIT = ("exit", "quit")
_WORD = re.compile(r"[\w.]+")
_AFTER_A_TABLE_WORD = re.compile(r"\b(from|join|table|describe|desc)\s+[\w.]*$", re.IGNORECASE)
#: Seconds between attempts to cancel: a query that is being planned has no job yet.
_CANCEL_EVERY = 0.2


class Cancelled(Exception):
    """The query was cancelled from the keyboard."""


class CatalogNames:
    """The names in the session's catalog. Each is asked for once."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    @functools.cached_property
    def keywords(self) -> list[str]:
        rows = self._session.sql("select lower(keyword) from sql_keywords() order by 1")
        return [keyword for (keyword,) in rows.collect()]

    @functools.cached_property
    def tables(self) -> list[str]:
        """Tables and views, as `schema.name`."""
        schemas = [row["namespace"] for row in self._session.sql("show namespaces").collect()]
        found = {
            f"{schema}.{row[name]}"
            for schema in schemas
            for kind, name in (("tables", "tableName"), ("views", "viewName"))
            for row in self._session.sql(f"show {kind} in {schema}").collect()
        }
        return sorted(found)

    @functools.cache  # noqa: B019 - lives as long as the prompt
    def columns(self, table: str) -> tuple[str, ...]:
        try:
            return tuple(self._session.table(table).columns)
        except AnalysisException:
            # A view whose tables are not built yet.
            return ()


class SqlCompleter(Completer):
    """A completer for tables after `from` and similar words, and elsewhere for columns."""

    def __init__(self, names: CatalogNames) -> None:
        self._names = names

    def get_completions(self, document: Document, _: CompleteEvent) -> Iterator[Completion]:
        word = document.get_word_before_cursor(pattern=_WORD)
        if _AFTER_A_TABLE_WORD.search(document.text_before_cursor):
            yield from _matching(word, self._names.tables, "table")
        elif word:
            # After the alias of a table, a column follows.
            yield from _matching(word.rpartition(".")[2], self._columns_of(document), "column")
            yield from _matching(word, self._names.keywords, "keyword")
            yield from _matching(word, self._names.tables, "table")

    def _columns_of(self, document: Document) -> list[str]:
        named = set(_WORD.findall(document.text))
        return sorted({c for t in self._names.tables if t in named for c in self._names.columns(t)})


def _matching(word: str, names: Iterable[str], kind: str) -> Iterator[Completion]:
    for name in names:
        if name.lower().startswith(word.lower()):
            yield Completion(name, -len(word), display_meta=kind)


def read_texts(session: SparkSession, message: str, history: Path) -> Iterator[str]:
    """Yield what is typed until `exit` or Ctrl-D. Ctrl-C begins the text again.

    `history`: the file of earlier texts. If it can't be written, no text is remembered.
    """
    try:
        history.parent.mkdir(parents=True, exist_ok=True)
        history.touch(mode=0o600)
        remembered: History = FileHistory(str(history))
    except OSError:
        remembered = InMemoryHistory()
    prompt = PromptSession[str](
        message,
        history=remembered,
        lexer=PygmentsLexer(SqlLexer),
        completer=ThreadedCompleter(SqlCompleter(CatalogNames(session))),
        key_bindings=_bindings(),
        multiline=True,
    )
    while True:
        try:
            text = prompt.prompt().strip()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if text.rstrip("; ").lower() in _EXIT:
            return
        if text:
            yield text


def is_complete(document: Document) -> bool:
    """Return whether Enter runs the text: it ends with `;` or a blank line, or is `exit`."""
    text = document.text.strip()
    return text.endswith(";") or text.lower() in ("", *_EXIT) or not document.current_line.strip()


def run_cancellable(session: SparkSession, work: Callable[[], None]) -> None:
    """Run `work` to its end. An interrupt cancels the jobs of the session."""
    with ThreadPoolExecutor(1, initializer=activate, initargs=(session,)) as pool:
        running = pool.submit(work)
        is_cancelled = False
        while not running.done():
            try:
                wait([running], _CANCEL_EVERY)
                if is_cancelled:
                    session.sparkContext.cancelAllJobs()
            except KeyboardInterrupt:
                is_cancelled = True
    if is_cancelled and running.exception() is not None:
        raise Cancelled
    running.result()


def _bindings() -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add("enter", filter=~completion_is_selected)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_complete(buffer.document):
            buffer.validate_and_handle()
        else:
            buffer.newline()

    return bindings
