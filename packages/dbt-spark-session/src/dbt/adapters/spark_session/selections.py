"""The tables from which the rows of a view come one by one, and the tables that it looks up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import sqlglot
from dbt.adapters.spark_session.queries import parsed
from dbt_common.exceptions import DbtRuntimeError
from sqlglot import exp

#: Parts of a select (sqlglot's names) with which it still makes its rows one by one.
_PARTS = {
    "kind",
    "hint",
    "expressions",
    "from_",
    "joins",
    "laterals",
    "where",
    "operation_modifiers",
}
#: A comment that says why the new rows of a view may be read although it joins or groups rows.
_EXCEPTION = re.compile(r"^\s*-- new rows may be read: \S", re.MULTILINE)
_NAMES = {"with_": "common table expressions", "group": "a group by", "distinct": "a distinct"}


@dataclass(frozen=True)
class Source:
    """A table or view that a query reads, and its place in the text, without the end."""

    name: str
    start: int
    end: int


@lru_cache(maxsize=256)
def sources_of(query: str) -> tuple[Source, ...]:
    """Return the tables and views that a view selects from, in the order of its text.

    The query must be a selection, or a union of all rows of selections: each of its rows is made
    from one row of a source and from the rows that a left join looks up for it. So the view of new
    rows is the new rows of the view. A query with the comment `-- new rows may be read: <why>` may
    be anything: then its reader can use what the query makes of new rows alone. Tables that are
    only looked up are left out.

    Raise DbtRuntimeError if the query is anything else.
    """
    try:
        found = parsed(query)
    except sqlglot.errors.SqlglotError as error:
        raise _refusal(f"it can't be parsed: {error}") from error
    if _EXCEPTION.search(query):
        named = [part.this for part in found.find_all(exp.From)]
        sources = [_source(table) for table in named if isinstance(table, exp.Table) and table.db]
    else:
        sources = _sources(found)
    return tuple(sorted(sources, key=lambda source: source.start))


@lru_cache(maxsize=256)
def looked_up_by(query: str) -> tuple[Source, ...]:
    """Return the tables and views that a query joins and that a subquery can stand for.

    These have an alias, by which the query names their columns, and none of the named columns may
    be one that `*` leaves out.
    """
    found = parsed(query)
    hidden = {
        column.table.lower() for column in found.find_all(exp.Column) if column.name.startswith("_")
    }
    joined = [join.this for join in found.find_all(exp.Join)]
    return tuple(
        _source(table)
        for table in joined
        if isinstance(table, exp.Table)
        and _parts(table) == {"this", "db", "alias"}
        and table.alias.lower() not in hidden
    )


def replaced(query: str, texts: Mapping[Source, str]) -> str:
    """Return a query with other texts in the places of tables and views."""
    for found in sorted(texts, key=lambda source: source.start, reverse=True):
        query = query[: found.start] + texts[found] + query[found.end :]
    return query


def _sources(query: exp.Expr) -> list[Source]:
    if isinstance(query, exp.Subquery):
        return _sources(query.this)
    if isinstance(query, exp.Union):
        if query.args.get("distinct"):
            raise _refusal("it has a union of distinct rows")
        return _sources(query.this) + _sources(query.expression)
    if not isinstance(query, exp.Select):
        raise _refusal("it is not a select")
    _check_rows_are_made_one_by_one(query)
    source = query.args["from_"].this if query.args.get("from_") else None
    if isinstance(source, exp.Subquery):
        return _sources(source)
    if not isinstance(source, exp.Table) or _parts(source) - {"alias"} != {"this", "db"}:
        raise _refusal("it selects from something other than `schema.table`")
    return [_source(source)]


def _parts(table: exp.Table) -> set[str]:
    return {part for part, value in table.args.items() if value}


def _source(table: exp.Table) -> Source:
    name, end = f"{table.db}.{table.name}", table.this.meta["end"] + 1
    return Source(name, table.args["db"].meta["start"], end)


def _check_rows_are_made_one_by_one(select: exp.Select) -> None:
    for part, value in select.args.items():
        if value and part not in _PARTS:
            raise _refusal(f"it has {_NAMES.get(part, part.rstrip('_'))}")
    for join in select.args.get("joins") or ():
        if join.side != "LEFT" or join.kind:
            raise _refusal("it has a join that is not a left join")
    for expression in select.expressions:
        if expression.find(exp.AggFunc, exp.Window):
            raise _refusal(f"{expression.sql('spark')} is computed from several rows")


def _refusal(why: str) -> DbtRuntimeError:
    return DbtRuntimeError(
        f"The new rows of a view can't be read, because {why}. They can if the view is a"
        " selection with left joins, or a `union all` of such selections. Make the view a table,"
        " read all of its rows by `ref`, or say in it why: `-- new rows may be read: <why>`."
    )
