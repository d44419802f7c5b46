"""SQL texts as statements, and which statements are queries."""

from __future__ import annotations

import logging

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokens import Token, TokenType

#: Spark's SQL, including `row:name::string`.
_DIALECT = "databricks"
_QUERIES = (exp.Query, exp.Values, exp.Describe)
#: Queries that sqlglot does not parse further.
_OTHER_QUERIES = ("SHOW", "EXPLAIN")
_FIRST_WORDS = ("SELECT", "WITH", "VALUES", "FROM", "DESC", "DESCRIBE", *_OTHER_QUERIES)
_WRITES = ("INSERT", "UPDATE", "DELETE", "MERGE")

# It would warn on stderr about each statement that it does not parse further.
logging.getLogger("sqlglot").setLevel(logging.ERROR)


class StatementError(Exception):
    """The text may not run; the message says why."""


def split_statements(text: str) -> list[str]:
    """Return the statements of a text, without semicolons and empty statements."""
    statements, begin = [], None
    for token in _tokens(text):
        if token.token_type == TokenType.SEMICOLON:
            if begin is not None:
                statements.append(text[begin : token.start])
            begin = None
        elif begin is None:
            begin = token.start
    if begin is not None:
        statements.append(text[begin:])
    return [statement.strip() for statement in statements]


def check_is_query(statement: str) -> None:
    """Raise if a statement is not a query, or may write."""
    words = [token.text.upper() for token in _tokens(statement) if _is_word(token)]
    first = words[0] if words else ""
    try:
        parsed = sqlglot.parse_one(statement, dialect=_DIALECT)
    except SqlglotError:
        # Spark may read what sqlglot can't. If not, its message says best what is wrong.
        is_query = first in _FIRST_WORDS and not set(words) & set(_WRITES)
    else:
        is_query = isinstance(parsed, _QUERIES) or (
            isinstance(parsed, exp.Command) and parsed.name.upper() in _OTHER_QUERIES
        )
    if not is_query:
        raise StatementError(
            "Only queries run here, and this is not one: a query begins with select, with, values,"
            " show, describe or explain, and writes nothing."
        )


def _tokens(text: str) -> list[Token]:
    try:
        return sqlglot.tokenize(text, read=_DIALECT)
    except SqlglotError as error:
        raise StatementError(f"The text is not complete SQL: {error}") from error


def _is_word(token: Token) -> bool:
    """Return whether a token is a bare word: a keyword, or a name that is not quoted."""
    return token.text.isidentifier() and token.token_type not in (
        TokenType.STRING,
        TokenType.IDENTIFIER,
    )
