"""The patterns and rules by which `statements` reads the text of a schema change.

The texts come from MySQL and similar systems, Oracle, PostgreSQL and SQL Server, as somebody typed
them. Sources: MySQL 8.4 manual, chapters 11.2, 11.7 and 15.1; MariaDB, "ALTER TABLE"; Oracle 19c
SQL reference, "ALTER TABLE"; PostgreSQL 17, "ALTER TABLE", "TRUNCATE", "Lexical structure"; SQL
Server, "ALTER TABLE"; Db2 11.5 and Db2 for i 7.5, "ALTER TABLE", "CREATE TABLE".

Spark matches the patterns, with Java's regular expressions. These recurse for each repetition of a
group, unless it is possessive (`*+`).
"""

from __future__ import annotations

from typing import NamedTuple

#: The flags of patterns with keywords: letters of any case, and a dot fits a line break too.
ANY_CASE = r"(?is)"

#: Systems whose texts are not MySQL's: a backslash is a character, and `#` begins no comment.
WITH_SCHEMAS = (
    "postgresql|postgres|ppas|sqlserver|greenplum|hologres|gaussdb|opengauss|dws|polardb_o"
)
_IN_CAPITALS = "oracle|db2|dm|dm8"
STANDARD_SQL = f"^(?:{_IN_CAPITALS}|{WITH_SCHEMAS})$"
#: Systems in which a name without quotes is the name in capitals, or in small letters.
UPPERCASING = f"^(?:{_IN_CAPITALS})$"
LOWERCASING = f"^(?!sqlserver)(?:{WITH_SCHEMAS})$"

_IN_BACKTICKS = r"`(?:[^`]|``)*+`"
# SQL Server doubles a bracket in a name. If a name can't continue there, two brackets are the end
# of PostgreSQL's `a[b[1]]`.
_IN_BRACKETS = r"\[(?:[^\]]|\]\](?![\s,;).]|$))*+\]"
_MYSQL_QUOTED = "|".join(
    (
        r"'(?:[^'\\]|\\.|'')*+'",
        r"\"(?:[^\"\\]|\\.|\"\")*+\"",
        _IN_BACKTICKS,
        _IN_BRACKETS,
    )
)
_STANDARD_QUOTED = "|".join(
    (
        # PostgreSQL's strings with escapes
        r"\b[eE]'(?:[^'\\]|\\.|'')*+'",
        r"'(?:[^']|'')*+'",
        r"\"(?:[^\"]|\"\")*+\"",
        _IN_BACKTICKS,
        _IN_BRACKETS,
    )
)
#: PostgreSQL's strings between tags, and Oracle's between marks. They contain no names.
_BETWEEN_TAGS = r"(?<![\w$])\$(?<tag>\w*)\$.*?\$\k<tag>\$"
_BETWEEN_MARKS = r"\b[nN]?[qQ]'(?:\[.*?\]|\{.*?\}|\(.*?\)|<.*?>|(?<mark>[^\s\[{(<]).*?\k<mark>)'"
# MySQL executes the content of `/*!40005 … */`, so only its marks are dropped.
_MYSQL_COMMENT = r"/\*M?!\d*|/\*.*?\*/|\*/|--(?=\s|\z)[^\n]*|#[^\n]*"
# PostgreSQL's comments may be nested.
_STANDARD_COMMENT = r"/\*(?:[^*/]|\*(?!/)|/(?!\*)|/\*.*?\*/)*+\*/|/\*.*?\*/|--[^\n]*"


def _parts(ends: str, quoted: str, others: str = "", more: str = "") -> str:
    """Return the pattern of a part of a text, which ends before one of the characters `ends`.

    Such a character does not end the part if it is in quotes, or in a text that fits the pattern
    `others`. The letter E may begin a quoted string. `more` are further characters that such a text
    begins or ends with; alone, they are ordinary characters.
    """
    unquoted = rf"(?:[^{ends}{more}eE'\"`\[]|[eE](?!'))++"
    return rf"(?s)(?:{unquoted}|{quoted}|{others}[{more}eE'\"`\[])++"


def _in_brackets(quoted: str) -> str:
    """Return the pattern of a text in brackets, which may contain others."""
    in_brackets = r"\([^()]*+\)"
    for _ in range(4):
        in_brackets = rf"\((?:(?:[^()eE'\"`\[]|[eE](?!'))++|{quoted}|{in_brackets}|[eE\[])*+\)"
    return in_brackets


def _actions(quoted: str) -> str:
    """Return the pattern of an action of an ALTER TABLE; commas outside of brackets end it."""
    return _parts(",", quoted, f"{_in_brackets(quoted)}|", "()")


class Lexis(NamedTuple):
    """How the text of a system is cut into statements and actions."""

    #: Comments, and texts that contain no names. Group 1 is quoted text, which is neither.
    no_code: str
    #: A statement; the text may have several, with semicolons between them.
    statement: str
    #: An action of an ALTER TABLE.
    action: str


STANDARD = Lexis(
    rf"(?s)({_STANDARD_QUOTED})|{_BETWEEN_TAGS}|{_BETWEEN_MARKS}|{_STANDARD_COMMENT}",
    _parts(";", _STANDARD_QUOTED),
    _actions(_STANDARD_QUOTED),
)
MYSQL = Lexis(
    rf"(?s)({_MYSQL_QUOTED})|{_MYSQL_COMMENT}",
    _parts(";", _MYSQL_QUOTED),
    _actions(_MYSQL_QUOTED),
)

#: DB2 has no commas between actions. An action on a column may have a DROP that drops no column.
_NEXT_ACTION = (
    r"(?:add|alter|rename|activate"
    r"|drop(?!\s+(?:default|not|identity|expression|generated|row|fieldproc)\b))\s"
)
DB2_ACTION = (
    rf"(?is)\s*+(?:(?:[^\s,()e'\"`\[]|e(?!'))++|\s++(?!{_NEXT_ACTION})"
    rf"|{_STANDARD_QUOTED}|{_in_brackets(_STANDARD_QUOTED)}|[()e'\"`\[])++"
)

#: One name, without quotes or in quotes of any kind. The pattern fits the text in the quotes.
_NAME_TEXT = (
    r"(?<=`)(?:[^`]|``)++|(?<=\")(?:[^\"]|\"\")++|(?<=\[)(?:[^\]]|\]\])++"
    r"|(?<![`\"\[])[^\s`\"'\[\].,;()=*]++"
)
# A name does not begin with the closing quote of the name before it.
_NAME_START, _NAME_END = r"(?=[^\s'\].,;()=*])[`\"\[]?", r"[`\"\]]?"
_NAME = f"{_NAME_START}(?:{_NAME_TEXT}){_NAME_END}"
_NAMED = f"{_NAME_START}({_NAME_TEXT}){_NAME_END}"
_NAMES = rf"{_NAME}(?:\s*,\s*{_NAME})*+"
#: `table`, `schema.table`, `database.schema.table`, or SQL Server's `database..table`.
_TABLE = rf"(?:{_NAME}\s*\.\s*(?:\.\s*)?){{0,2}}+{_NAME}"
_PART = rf"(?=[^\s'\].,;()=*])([`\"\[]?)({_NAME_TEXT}){_NAME_END}"
#: Each part has two groups: the quote that it begins with, and its text.
TABLE_PARTS = rf"{ANY_CASE}^\s*(?:(?:{_PART}\s*\.\s*)?(?:{_PART})?\s*\.\s*)?{_PART}\s*$"
_TABLES = rf"{_TABLE}(?:\s*\*)?(?:\s*,\s*(?:only\s+)?{_TABLE}(?:\s*\*)?)*+"
_WAIT = r"(?:wait\s+\d+\s+|nowait\s+)?"
_RENAMED = rf"{_TABLE}\s+{_WAIT}to\s+{_TABLE}"
EACH_TABLE = rf"{ANY_CASE}(?:\b(?:only|to|nowait|wait\s+\d+)\s+(?![.,]))*+({_TABLE})"
_IF_EXISTS = r"(?:if\s+exists\s+)?"

_DEFINER_PART = r"(?:`(?:[^`]|``)*+`|'[^']*+'|\"[^\"]*+\"|[^\s`'\"@]++)"
_ON_ROWS = "insert|update|delete|replace|merge|with|load"
#: Statements of MySQL that change rows.
ROW_STATEMENT = rf"{ANY_CASE}^(?:{_ON_ROWS})\b"
#: Statements that change rows or a variable, or contain statements that run later. They are
#: ignored. A Canal server does not escape the quotes in the value of a variable.
NOT_OURS = (
    rf"{ANY_CASE}^[\s(]*+"
    rf"(?:(?:{_ON_ROWS}|select|values|copy|call|commit|savepoint|declare|do)\b"
    r"|set\s+@"
    r"|begin\b(?!\s*(?:;|work\b|tran(?:saction)?\b))"
    r"|(?:create\s+(?:or\s+(?:replace|alter)\s+)?|alter\s+)"
    r"(?:(?:editionable|noneditionable|aggregate|constraint|temporary"
    rf"|definer\s*=\s*{_DEFINER_PART}(?:\s*@\s*{_DEFINER_PART})?)\s+)*+"
    r"(?:procedure|proc|function|trigger|event|package|type\s+body|rule)\b)"
)
KNOWN_STATEMENT = (
    rf"{ANY_CASE}^\s*"
    r"(?:alter|create|drop|truncate|rename|comment|analyze|grant|revoke|flashback|xa|if"
    r"|set\s+statement)\b"
)


class Rule(NamedTuple):
    """A rule says what a statement, or an action of an ALTER TABLE, changes.

    The first group of the pattern contains the names of what is changed. `level` says what the
    names are names of.
    """

    pattern: str
    change: str
    level: str = "table"


# Oracle's TRUNCATE CLUSTER names a cluster; elsewhere a table may have this name.
_TRUNCATE = rf"^truncate\s+(?!cluster\s+{_NAME})(?:table\b\s*)?+{_IF_EXISTS}(?:only\s+)?({_TABLES})"
#: Statements that remove all rows of tables, whether or not their names can be read.
EMPTYING = rf"{ANY_CASE}^(?:truncate|drop\s+(?:foreign\s+)?tables?)\b"
_REPLACING = rf"^create\s+or\s+replace\s+table\s+({_TABLE})"
REPLACED_TABLE = Rule(_REPLACING, "table_drop")
#: MariaDB replaces databases and tables alike: it drops the old one.
_REMOVING = r"(?:drop|create\s+or\s+replace)\s+"
STATEMENT_RULES = (
    Rule(rf"{_TRUNCATE}(?!.*\bpartitions?\b)", "truncation"),
    # Tables that refer to it lose rows too. In SQL Server, only some partitions may lose rows.
    Rule(rf"{_TRUNCATE}(?=.*\b(?:cascade|partitions?)\b)", "not_applied"),
    Rule(rf"^drop\s+(?:foreign\s+)?tables?\s+{_IF_EXISTS}({_TABLES})", "table_drop"),
    REPLACED_TABLE,
    Rule(rf"^{_REMOVING}database\s+{_IF_EXISTS}({_NAMES})", "table_drop", "database"),
    Rule(rf"^{_REMOVING}schema\s+{_IF_EXISTS}({_NAMES})", "table_drop", "schema"),
    # Oracle's users are schemas.
    Rule(rf"^drop\s+user\s+({_NAMES})(?=.*\bcascade\b)", "table_drop", "schema"),
    Rule(
        rf"^rename\s+(?:tables?\s+)?{_IF_EXISTS}({_RENAMED}(?:\s*,\s*{_RENAMED})*+)", "not_applied"
    ),
    Rule(rf"^flashback\s+table\s+({_TABLES})", "not_applied"),
    # Only the server knows whether the condition was true.
    Rule(rf"^if\b.*\b(?:truncate\s+table|drop\s+table)\s+{_IF_EXISTS}({_TABLES})", "not_applied"),
    # These statements do not name the tables.
    Rule(
        rf"^()(?:truncate\s+cluster\s+{_NAME}|drop\s+(?:cluster|tablespace)\b.*\bincluding\b"
        r"|drop\s+owned\s+by\b|alter\s+(?:schema|database)\b.*\brename\s+to\b|xa\s+rollback\b"
        r"|flashback\s+database\b|(?:exec(?:ute)?\s+)?(?:\w+\.)*+sp_rename\b)",
        "not_applied",
        "unknown",
    ),
)
#: CASCADE is PostgreSQL's. A format without systems has no schemas, so the tables are unknown.
OF_SCHEMA = Rule(r"^()drop\s+schema\b.*\bcascade\b", "not_applied", "unknown")
#: A producer that could not parse the statement goes on with the columns of the old table.
UNREAD_TABLE = Rule(_REPLACING, "not_applied")
#: DB2 keeps the rows of a table that it replaces, unless the statement says otherwise.
_DELETES_ROWS = r".*\bon\s+replace\s+delete\s+rows\b"
DB2_STATEMENT_RULES = (
    *(rule for rule in STATEMENT_RULES if rule is not REPLACED_TABLE),
    Rule(rf"{_REPLACING}(?={_DELETES_ROWS})", "table_drop"),
    Rule(rf"{_REPLACING}(?!{_DELETES_ROWS})", "not_applied"),
)
#: MariaDB's settings for one statement.
SETTINGS = rf"{ANY_CASE}^set\s+statement\s.*?\sfor\s+"
ALTER = (
    rf"{ANY_CASE}^alter\s+(?:(?:online|offline|ignore|foreign)\s+)*+table\s+{_IF_EXISTS}(?:only\s+)?"
    rf"({_TABLE})\s*\*?\s*{_WAIT}(.*)$"
)
RENAMING = rf"{ANY_CASE}^rename\s"
RENAMING_ALTER = rf"{ANY_CASE}^alter\s.*\brename\b"
#: The name of group 2, also in quotes of another kind.
_IN_THESE_LETTERS = rf"{_NAME_START}+(?-i:\2){_NAME_END}(?:\s|$)"
_IN_ANY_LETTER_CASE = rf"{_NAME_START}+(?iu:\2){_NAME_END}(?:\s|$)"
# Possessive: nothing that was matched may be read as part of a name after all.
_CHANGE = rf"^change\s+(?:column\s+)?+{_IF_EXISTS}+"
_RENAME = rf"^rename\s+(?:column\s+)?{_IF_EXISTS}"
#: MySQL's options of partitions stand behind the last action, without a comma.
_END_OF_ACTION = r"(?:\s+(?:partition\s+by\b.*|remove\s+partitioning))?\s*$"
ACTION_RULES = (
    Rule(rf"^drop\s+column\s+{_IF_EXISTS}({_NAME})", "column_drop"),
    Rule(
        rf"^drop\s+{_IF_EXISTS}({_NAME})(?:\s+(?:restrict|cascade))?{_END_OF_ACTION}",
        "column_drop",
    ),
    Rule(rf"^(?:drop|set\s+unused)\s*\(\s*({_NAMES})\s*\)", "column_drop"),
    Rule(rf"^set\s+unused\s+column\s+({_NAME})", "column_drop"),
    Rule(rf"{_RENAME}({_NAMED})\s+to\s++(?!{_IN_ANY_LETTER_CASE}){_NAME}", "column_drop"),
    Rule(rf"{_CHANGE}({_NAMED})\s++(?!{_IN_ANY_LETTER_CASE}){_NAME_START}", "column_drop"),
    # Here the first group has the new name.
    Rule(rf"{_RENAME}(?={_NAME}\s+to\s+({_NAMED})){_IN_ANY_LETTER_CASE}", "column_respelling"),
    # If only the type changes, the name stays the same, letter for letter.
    Rule(
        rf"{_CHANGE}(?={_NAME}\s+({_NAMED}))(?!{_IN_THESE_LETTERS}){_IN_ANY_LETTER_CASE}",
        "column_respelling",
    ),
    Rule(rf"^rename\s+(?:to\s+|as\s+|=\s*)?({_TABLE})\s*$", "not_applied"),
    Rule(
        r"^(?!convert\s+to\b)"
        r"(?:truncate|drop|exchange|switch|discard|import|detach|attach|convert)\s+(?:all\s+)?"
        rf"(?:sub)?(?:partitions?|tablespace|to|table)\b(?:.*\btable\s+({_TABLE}))?",
        "not_applied",
    ),
    Rule(r"^set\s+schema\b()", "not_applied"),
    # DB2's fast TRUNCATE
    Rule(r"^activate\s+not\s+logged\s+initially\s+with\s+empty\s+table\b()", "truncation"),
)
#: SQL Server drops several columns, or constraints and columns, by one DROP.
NEXT_COLUMN = Rule(rf"^(?:column\s+{_IF_EXISTS})?({_NAME})\s*$", "column_drop")

#: The rows of Oracle tables get new addresses.
MOVE = Rule(
    r"^(?:move|(?:modify\s+(?:sub)?partition\b.*\s)?shrink\s+space"
    r"|(?:modify\s+partition\b.*\s)?coalesce\s+(?:sub)?partition"
    r"|(?:split|merge)\s+(?:sub)?partitions?|modify\s+partition\s+by)\b()",
    "row_move",
)

#: MySQL up to 5.6 and MariaDB delete rows with equal values, and write no rows to the log.
IGNORES_DUPLICATES = rf"{ANY_CASE}^alter\s+(?:online\s+|offline\s+)?ignore\s+table\b"
UNIQUE_KEY = Rule(
    rf"^add\s+(?:constraint\s+(?:(?!unique\b|primary\b){_NAME}\s+)?)?(?:unique|primary)\b()",
    "not_applied",
)

#: A producer that could not parse the statement goes on with the old place and type of the column.
ALTERED_COLUMN = Rule(r"^(?:change|modify)\b()", "not_applied")
