"""`cdc-marts sql`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_marts.cli.console import FAILED, WRONG_USE, say, stop, tell
from cdc_marts.cli.options import on_target
from cdc_marts.cli.session import open_session
from cdc_marts.project.profile import state_folder
from cdc_marts.project.target import Target
from cdc_marts.sql import ResultFormat

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Formats in which one stream may hold the results of several queries.
_FOR_PEOPLE = (ResultFormat.table, ResultFormat.md)


@on_target
def sql(
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="QUERY",
            help="A query. Without it, queries come from stdin, or from a prompt on a terminal.",
            show_default=False,
        ),
    ] = None,
    named_format: Annotated[
        ResultFormat | None,
        typer.Option(
            "--format",
            help="How the result is written: table, csv, json, parquet or md. The default is the"
            " suffix of --output, or else table.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the result to this file. The file appears when the result is complete.",
        ),
    ] = None,
    *,
    target: Target,
) -> None:
    """Query the marts.

    cdc-marts sql "select * from marts.latest_state where table_id = 'shop.orders'"

    Only queries run: select, with, values, show, describe and explain. They do
    not wait for a running `dbt run` and do not delay one. VARIANT values are
    shown as JSON.

    On a terminal without a query, a prompt opens. A semicolon or a blank line
    ends a query, Tab completes names, Ctrl-C cancels, and exit or Ctrl-D ends
    the prompt.
    """
    is_prompt = query is None and sys.stdin.isatty()
    result_format = named_format or _format_of(output)
    if output is None and result_format is ResultFormat.parquet:
        raise typer.BadParameter("Parquet is binary. Name a file with --output.")
    if output is not None and is_prompt:
        raise typer.BadParameter("--output needs a query.")
    if output is not None and not output.absolute().parent.is_dir():
        raise typer.BadParameter(f"The folder {output.absolute().parent} does not exist.")
    statements = [] if is_prompt else _statements(_read_stdin() if query is None else query)
    if len(statements) > 1 and (output is not None or result_format not in _FOR_PEOPLE):
        hints = {
            "use --format table": named_format not in (None, *_FOR_PEOPLE),
            "leave out --output": output is not None,
        }
        hint = " and ".join(text for text, is_needed in hints.items() if is_needed)
        raise typer.BadParameter(f"These are {len(statements)} queries. Give only one, or {hint}.")
    with open_session(target, is_reader=True) as session:
        if is_prompt:
            _run_prompt(session, result_format, target)
        for statement in statements:
            try:
                _run(session, statement, result_format, output)
            except _QueryError as error:
                stop(str(error), FAILED)


def _format_of(output: Path | None) -> ResultFormat:
    """Return the format that the suffix of a file names, or else a table."""
    suffix = "" if output is None else output.suffix[1:].lower()
    return next((known for known in ResultFormat if known.value == suffix), ResultFormat.table)


def _read_stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        stop(f"stdin is not UTF-8 at byte {error.start + 1}.", WRONG_USE)


def _statements(text: str) -> list[str]:
    from cdc_marts.sql.statements import StatementError, check_is_query, split_statements

    try:
        statements = split_statements(text)
        for statement in statements:
            check_is_query(statement)
    except StatementError as error:
        stop(str(error), WRONG_USE)
    if not statements:
        stop("There is no query.", WRONG_USE)
    return statements


class _QueryError(Exception):
    """The query has no result; the message says why."""


def _run(
    session: SparkSession, statement: str, result_format: ResultFormat, output: Path | None = None
) -> None:
    """Write the result of a query."""
    from dbt.adapters.spark_session.api import SPARK_ERRORS

    from cdc_marts.sql.errors import sentence_of
    from cdc_marts.sql.results import ResultError, write_result

    try:
        write_result(session.sql(statement), result_format, output)
    except SPARK_ERRORS as error:
        raise _QueryError(sentence_of(error)) from error
    except ResultError as error:
        raise _QueryError(str(error)) from error


def _run_prompt(session: SparkSession, result_format: ResultFormat, target: Target) -> None:
    from cdc_marts.sql.prompt import Cancelled, read_texts, run_cancellable
    from cdc_marts.sql.statements import StatementError, check_is_query, split_statements

    tell(f"Target {target.name}. End a query with a semicolon; exit or Ctrl-D ends the prompt.")
    history = state_folder(target) / "sql_history"
    for text in read_texts(session, f"{target.name}> ", history):
        try:
            for statement in split_statements(text):
                check_is_query(statement)
                run_cancellable(session, partial(_run, session, statement, result_format))
        except (StatementError, _QueryError) as error:
            say(str(error))
        except Cancelled:
            say("Cancelled.")
