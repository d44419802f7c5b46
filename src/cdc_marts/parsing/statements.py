"""SQL texts of schema changes."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

# Up to nine comments: Java's regular expressions recurse for every repetition of a group.
_COMMENT = r"(/\*.*?\*/|--[^\n]*\n|#[^\n]*\n)"
_START = rf"(?is)^\s*(?:{_COMMENT}\s*){{0,9}}"
_ENDING = rf"{_START}(truncate\b|drop\s+table\b)"

#: A name as it is, or in the quotes of MySQL, of standard SQL, or of SQL Server.
_NAME = r"(`[^`]+`|\"[^\"]+\"|\[[^\]]+\]|[^\s`\"\[\].,;()]+)"
_ENDED_TABLE = (
    rf"{_START}"
    r"(?:truncate\s+(?:table\s+)?(?:only\s+)?|drop\s+table\s+(?:if\s+exists\s+)?)"
    rf"(?:{_NAME}\s*\.\s*)?{_NAME}"
)


def ends_rows(sql: Column) -> Column:
    """True for a statement after which its table has no rows: it truncates or drops the table."""
    return F.coalesce(sql.rlike(_ENDING), F.lit(False))


def ended_table(sql: Column, database_name: Column) -> Column:
    """The table that such a statement names, for messages that do not; of several the first.

    Null for a table of another database.
    """
    qualifier, name = (_unquoted(F.regexp_extract(sql, _ENDED_TABLE, n)) for n in (2, 3))
    is_of_database = (qualifier == "") | (qualifier == database_name)
    return F.when(is_of_database & (name != ""), name)


def _unquoted(name: Column) -> Column:
    return F.regexp_replace(name, r"^[`\"\[]|[`\"\]]$", "")
