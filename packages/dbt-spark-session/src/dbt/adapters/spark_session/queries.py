"""Facts in the text of a query."""

from __future__ import annotations

import re
from functools import lru_cache

import sqlglot
from sqlglot import exp

#: Functions that may give another value each time, as sqlglot names them.
_VOLATILE = {
    "curdate",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_user",
    "input_file_name",
    "localtimestamp",
    "monotonically_increasing_id",
    "now",
    "rand",
    "randn",
    "randstr",
    "session_user",
    "shuffle",
    "spark_partition_id",
    "uniform",
    "user",
    "uuid",
}
#: Those that sqlglot takes for columns, if they have no parentheses.
_WITHOUT_PARENTHESES = {"current_time", "localtimestamp"}
#: Texts that Spark may read as a time, as in `date 'today'`. It ignores case.
_RELATIVE_TIME = re.compile(r"\s*(now|today|tomorrow|yesterday)\b", re.IGNORECASE)


@lru_cache(maxsize=256)
def parsed(query: str) -> exp.Expr:
    """Return a query as sqlglot reads it, which callers must not change.

    Raise sqlglot's SqlglotError if it can't be read. Spark may read it nevertheless.
    """
    return sqlglot.parse_one(query, dialect="spark")


@lru_cache(maxsize=256)
def read_by(query: str) -> frozenset[str] | None:
    """Return the tables and views that a query reads, as `schema.name`; None if unclear."""
    try:
        found = parsed(query)
    except sqlglot.errors.SqlglotError:
        return None
    ctes = {cte.alias for cte in found.find_all(exp.CTE)}
    tables = [table for table in found.find_all(exp.Table) if table.db or table.name not in ctes]
    if not all(map(_is_plain, tables)):
        return None
    return frozenset(f"{table.db}.{table.name}" for table in tables)


def _is_plain(table: exp.Table) -> bool:
    """Return whether a table is named `schema.name`, without a catalog; no file or function."""
    return not table.catalog and table.db.isidentifier() and table.name.isidentifier()


@lru_cache(maxsize=256)
def is_volatile(query: str) -> bool:
    """Return whether a query may return other rows although its tables have not changed.

    Raise sqlglot's SqlglotError, as `parsed` does.
    """
    found = parsed(query)
    return any(map(_is_volatile, found.walk()))


def _is_volatile(part: exp.Expr) -> bool:
    if isinstance(part, exp.Func):
        return _function_name(part) in _VOLATILE
    if isinstance(part, exp.Column):
        return not part.table and part.name.lower() in _WITHOUT_PARENTHESES
    if isinstance(part, exp.Literal):
        return part.is_string and _RELATIVE_TIME.match(part.name) is not None
    return isinstance(part, exp.TableSample)


def _function_name(function: exp.Func) -> str:
    is_unknown = isinstance(function, exp.Anonymous)
    return (function.name if is_unknown else function.sql_name()).lower()
