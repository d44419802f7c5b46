"""This module finds out whose type names a table has, if a format carries several databases."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F

#: A character between names, which no name contains.
_SEPARATOR = "\x1f"
_LENGTH = rf" ?\([^){_SEPARATOR}]*\)"
_ONLY_MYSQL = (
    r"tinyint|mediumint|datetime|year|(?:tiny|medium|long)(?:text|blob)|(?:var)?binary"
    rf"|(?:small|big)?int{_LENGTH}|(?:enum|set) ?\([^{_SEPARATOR}]*\)"
    rf"|[a-z]+(?:{_LENGTH})? (?:unsigned|zerofill)"
)
_ORACLE = (
    r"n?varchar2|number|binary_(?:float|double)|n?clob|long raw|long|raw|bfile|u?rowid|xmltype"
    rf"|interval (?:year|day)[^{_SEPARATOR}]*|timestamp(?:{_LENGTH})? with local time zone"
)
_ONLY_POSTGRESQL = (
    r"(?:small|big)serial|serial[248]|bpchar|varbit|bit varying|bytea|jsonb|xml|money|inet|cidr"
    r"|macaddr8?|ts(?:vector|query)|oid|name|citext|hstore|box|circle|line|lseg|path"
    r"|(?:int[48]|num|ts|tstz|date)range|interval"
    rf"|timestamptz|timetz|time(?:stamp)?(?:{_LENGTH})? with(?:out)? time zone"
    rf"|_[a-z][^{_SEPARATOR}]*|[^{_SEPARATOR}]+\[\]"
)
#: Names that PostgreSQL publishes, and that MySQL or MariaDB takes in a statement.
_ALSO_POSTGRESQL = "int[248]|float[48]|character varying|uuid"
#: Types that PostgreSQL lacks, or publishes under another name: `int4`, `float8`, `bpchar`,
#: and `varchar` without a length or `character varying(20)`.
_NOT_POSTGRESQL = rf"double|blob|inet[46]|int|float|(?:var)?char{_LENGTH}"
#: Most tables of MySQL have only these types. A table that has only these counts as MySQL's.
_PLAIN_MYSQL = (
    *("varchar", "char", "text", "tinytext", "mediumtext", "longtext", "json"),
    *("bigint", "int", "smallint", "tinyint", "mediumint", "decimal", "double", "float", "bit"),
    *("datetime", "timestamp", "date", "time", "year"),
    *("blob", "tinyblob", "mediumblob", "longblob", "binary", "varbinary"),
)


def _by_first_letter(names: Iterable[str]) -> str:
    """Return the pattern of these names, grouped by their first letters.

    So a name is compared only with names that begin with the same letter.
    """
    rests: dict[str, list[str]] = {}
    for name in names:
        rests.setdefault(name[0], []).append(name[1:])
    return "|".join(f"{letter}(?:{'|'.join(rest)})" for letter, rest in rests.items())


def _one_of(names: str) -> str:
    """Return the pattern of a joined list with at least one of these names, lengths allowed."""
    return rf"(?i)(?:^|{_SEPARATOR})(?:{names})(?:{_LENGTH})?(?:{_SEPARATOR}|$)"


#: A joined list of only these names. The pattern is possessive, so that Java reads long lists.
_ALL_PLAIN = (
    rf"(?i)^(?:(?:{_by_first_letter(_PLAIN_MYSQL)})(?:{_LENGTH})?"
    rf"(?: unsigned)?(?: zerofill)?(?:{_SEPARATOR}|$))*+$"
)
_FOREIGN = _one_of(f"{_ORACLE}|{_ONLY_POSTGRESQL}|{_ALSO_POSTGRESQL}")
_OF_MYSQL, _OF_ORACLE, _OF_POSTGRESQL, _NOT_OF_POSTGRESQL = map(
    _one_of, (_ONLY_MYSQL, _ORACLE, _ONLY_POSTGRESQL, _NOT_POSTGRESQL)
)


def source_type(type_names: Column) -> Column:
    """Return the kind of database that has these types: `mysql`, `oracle` or `postgresql`.

    `type_names`: array<string>; MySQL for null.

    A name that only another database than MySQL has decides this, unless there is a name that only
    MySQL has. A Canal server may publish a type as somebody wrote it, so a MySQL table may have
    `INT8`, and MariaDB has `uuid`. If a table has such names, and none that only PostgreSQL has, a
    name that PostgreSQL does not publish decides for MySQL.
    """
    names = F.array_join(type_names, _SEPARATOR)
    # A match from the start takes a tenth of the time of a search for a name in the list.
    is_foreign = ~names.rlike(_ALL_PLAIN) & names.rlike(_FOREIGN) & ~names.rlike(_OF_MYSQL)
    foreign = (
        F.when(names.rlike(_OF_ORACLE), "oracle")
        .when(names.rlike(_OF_POSTGRESQL), "postgresql")
        .when(names.rlike(_NOT_OF_POSTGRESQL), "mysql")
        .otherwise("postgresql")
    )
    return F.when(is_foreign, foreign).otherwise("mysql")
