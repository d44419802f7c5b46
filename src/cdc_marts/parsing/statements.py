"""This module finds out from the text of a schema change how it changes tables.

The patterns and rules of the systems are in `statement_rules`; here, Spark applies them.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc_marts.expressions import let
from cdc_marts.parsing.ops import TABLE_DROPS, source_ops
from cdc_marts.parsing.statement_rules import (
    ACTION_RULES,
    ALTER,
    ALTERED_COLUMN,
    ANY_CASE,
    DB2_ACTION,
    DB2_STATEMENT_RULES,
    EACH_TABLE,
    EMPTYING,
    IGNORES_DUPLICATES,
    KNOWN_STATEMENT,
    LOWERCASING,
    MOVE,
    MYSQL,
    NEXT_COLUMN,
    NOT_OURS,
    OF_SCHEMA,
    RENAMING,
    RENAMING_ALTER,
    ROW_STATEMENT,
    SETTINGS,
    STANDARD,
    STANDARD_SQL,
    STATEMENT_RULES,
    TABLE_PARTS,
    UNIQUE_KEY,
    UNREAD_TABLE,
    UPPERCASING,
    WITH_SCHEMAS,
    Rule,
)

#: The changes of a statement in tables. `truncation`: all rows with a smaller sequence are gone
#: (TRUNCATE). `table_drop`: these rows and the columns of the table are gone (DROP TABLE, CREATE OR
#: REPLACE TABLE, DROP DATABASE). `column_drop`: the values of `column_names` in these rows are gone
#: (a column that is dropped or renamed). `column_respelling`: the values of a column are gone whose
#: name differs from one of `column_names` in letter case alone; the statement may write the old
#: name in any letter case, so only the new spelling is certain. `row_move`: rows get new addresses,
#: which matters only in tables whose rows are known by their addresses. `not_applied`: rows change
#: in a way that no message can replay (RENAME TABLE, TRUNCATE PARTITION, ...), or the producer goes
#: on with the columns from before. A null name matches any: a null `table_name` means all tables of
#: the database or schema.
#:
#: The models `int_resolved_changes`, `int_truncations` and `int_column_drops` choose from these
#: changes by name, and so does `fold/lost_columns.py`.
TABLE_CHANGES = (
    "array<struct<change: string, database_name: string, schema_name: string, table_name: string,"
    " column_names: array<string>>>"
)


def change_of(source_op: Column, source_format: str) -> Column:
    """Return what an operation alone says about its table, as in `TABLE_CHANGES`, else null.

    A rollback of an XA transaction comes after its rows, because the rows were published when the
    transaction was prepared.
    """
    truncations = [
        code for code, (*_, is_truncation) in source_ops(source_format).items() if is_truncation
    ]
    return (
        F.when(source_op.isin(*TABLE_DROPS), "table_drop")
        .when(source_op.isin(*truncations), "truncation")
        .when(source_op.isin("RENAME", "XAROLLBACK"), "not_applied")
    )


def table_changes(
    sql: Column,
    *,
    own_change: Column,
    source_type: Column,
    database_name: Column,
    schema_name: Column,
    table_name: Column,
    is_unparsed: Column | None = None,
) -> Column:
    """Return what a statement changes in tables (`TABLE_CHANGES`), or null if it changes nothing.

    `own_change` is what the operation alone says (`change_of`); it counts if the text does not say
    what is done. `source_type` is in lower case, and null is read as MySQL. The names are those of
    the envelope: they complete the names in the text, which otherwise count. `is_unparsed`: whether
    the producer could not parse the statement. Then it publishes later rows by the columns that the
    table had before, so a change of columns is also `not_applied`.

    The expression consists of lambdas, which Spark does not compile. So call it beside a parse, and
    only for statements.
    """
    envelope = F.struct(
        F.coalesce(sql, F.lit("")).alias("sql"),
        own_change.alias("own_change"),
        database_name.alias("database"),
        schema_name.alias("schema"),
        table_name.alias("table"),
        F.coalesce(
            source_type.rlike(STANDARD_SQL),
            # A name with `#` is not MySQL's, because a comment begins there in MySQL.
            F.contains(table_name, F.lit("#")),
            F.lit(False),
        ).alias("is_standard"),
        F.coalesce(source_type, F.lit("")).alias("source_type"),
        (F.lit(False) if is_unparsed is None else is_unparsed).alias("is_unparsed"),
    )

    def changes(envelope: Column) -> Column:
        text = _without_comments(envelope["sql"], envelope["is_standard"])
        return let(text, lambda text: changes_of_text(text, envelope))

    def changes_of_text(text: Column, envelope: Column) -> Column:
        named = F.transform(_named_changes(text, envelope), lambda named: _change(named, envelope))
        return F.when(
            ~text.rlike(NOT_OURS),
            F.filter(named, lambda change: ~_is_of_session(change, envelope["source_type"])),
        )

    return let(let(envelope, changes), lambda changes: F.when(F.size(changes) > 0, changes)).cast(
        TABLE_CHANGES
    )


def changes_rows(sql: Column) -> Column:
    """Return whether a statement in the words of MySQL changes rows, and no tables."""
    text = _without_comments(sql, is_standard=F.lit(False))
    return _without_settings(text).rlike(ROW_STATEMENT)


def named_table(changes: Column, database_name: Column, schema_name: Column) -> Column:
    """Return the first table that a statement names, for envelopes that name none.

    Null if the table belongs to another database or schema.
    """
    first = F.get(changes, F.lit(0))
    is_of_database, is_of_schema = (
        first[level].isNull() | (first[level] == name)
        for level, name in (("database_name", database_name), ("schema_name", schema_name))
    )
    return F.when(is_of_database & is_of_schema, first["table_name"])


def takes_all_rows(changes: Column) -> Column:
    """Return whether the statement removes all rows of a table; false if `changes` is null."""
    return _has(changes, "truncation") | _has(changes, "table_drop")


def is_applied(changes: Column) -> Column:
    """Return whether the statement removes rows, or the values of columns, of earlier events."""
    return (
        takes_all_rows(changes) | _has(changes, "column_drop") | _has(changes, "column_respelling")
    )


def _has(changes: Column, change: str) -> Column:
    return F.coalesce(F.array_contains(changes["change"], change), F.lit(False))


def _by_dialect(is_standard: Column, standard: str, mysql: str) -> Column:
    return F.when(is_standard, F.lit(standard)).otherwise(F.lit(mysql))


def _without_comments(sql: Column, is_standard: Column) -> Column:
    """Replace comments, and texts that hold no names, by blanks.

    Quoted text stays as it is, between blanks. One pass finds all of them, because a comment may
    contain a quote, and quoted text may look like a comment.
    """
    pattern = _by_dialect(is_standard, STANDARD.no_code, MYSQL.no_code)
    return F.regexp_replace(sql, pattern, F.lit(" $1 "))


def _named_changes(text: Column, envelope: Column) -> Column:
    """Return the array<named change> of a text without comments.

    The text may contain several statements.
    """
    rules = (
        F.when(envelope["is_unparsed"], _rules((*STATEMENT_RULES, OF_SCHEMA, UNREAD_TABLE)))
        .when(envelope["source_type"] == "", _rules((*STATEMENT_RULES, OF_SCHEMA)))
        .when(envelope["source_type"] == "db2", _rules(DB2_STATEMENT_RULES))
        .otherwise(_rules(STATEMENT_RULES))
    )

    def changes_of(statement: Column) -> Column:
        found = let(
            _by_rules(statement, rules),
            lambda found: F.when(
                (F.size(found) == 0) & statement.rlike(EMPTYING), _own_change(envelope)
            ).otherwise(found),
        )
        return let(
            F.when(statement.rlike(ALTER), _altered(statement, envelope)).otherwise(found),
            lambda found: _in_known_databases(found, statement, envelope),
        )

    statements = F.regexp_extract_all(
        text,
        _by_dialect(envelope["is_standard"], STANDARD.statement, MYSQL.statement),
        F.lit(0),
    )
    each = F.flatten(
        F.transform(
            statements,
            lambda statement: let(_without_settings(statement), changes_of),
        )
    )
    is_read = text.rlike(KNOWN_STATEMENT) | envelope["own_change"].isNull()
    return F.when(is_read, each).otherwise(_own_change(envelope))


def _in_known_databases(named: Column, statement: Column, envelope: Column) -> Column:
    """Return the named changes; those in a database that nobody knows are not applied.

    Canal's envelope has the database of the first name, and for a RENAME that of the first new
    name. If the text has it too, the statement may have run in another database, which the other
    names mean if they name none.
    """
    # The new name is the last of an ALTER.
    index = (
        F.when(statement.rlike(RENAMING), F.lit(1))
        .when(statement.rlike(RENAMING_ALTER), F.size(named) - 1)
        .otherwise(F.lit(0))
    )
    names_database = _part(F.get(named, index)["name"], 2, envelope) == envelope["database"]

    def moved(change: Column) -> Column:
        is_bare = (change["level"] == "table") & _part(change["name"], 2, envelope).isNull()
        unknown = _named("not_applied", "table_anywhere", change["name"])
        return F.when(is_bare, unknown).otherwise(change)

    names_no_system = envelope["source_type"] == ""
    return F.when(
        names_no_system & names_database, F.array_distinct(F.transform(named, moved))
    ).otherwise(named)


def _own_change(envelope: Column) -> Column:
    """Return the change of the envelope's table, for a text that names no readable table.

    If the envelope names no table either, nobody knows which table lost its rows.
    """
    change = F.when(envelope["table"].isNotNull(), envelope["own_change"])
    return F.array(_named(F.coalesce(change, F.lit("not_applied")), F.lit("own")))


def _altered(statement: Column, envelope: Column) -> Column:
    """Return the array<named change> of an ALTER TABLE, one action after another."""
    table, text = (F.regexp_extract(statement, ALTER, group) for group in (1, 2))
    source_type = envelope["source_type"]
    action = F.when(source_type == "db2", DB2_ACTION).otherwise(
        _by_dialect(envelope["is_standard"], STANDARD.action, MYSQL.action)
    )
    actions = F.regexp_extract_all(text, action, F.lit(0))
    further_rules = {
        NEXT_COLUMN: (source_type == "sqlserver") & text.rlike(rf"{ANY_CASE}^drop\s"),
        MOVE: source_type == "oracle",
        UNIQUE_KEY: statement.rlike(IGNORES_DUPLICATES),
        ALTERED_COLUMN: envelope["is_unparsed"],
    }
    rules = F.concat(
        _rules(ACTION_RULES),
        F.array_compact(
            F.array(*(F.when(holds, _rule(rule)) for rule, holds in further_rules.items()))
        ),
    )

    def changes(found: Column) -> Column:
        def names_of(change: str) -> Column:
            return F.filter(found, lambda named: named["change"] == change)["name"]

        def of_columns(change: str) -> Column:
            names = F.transform(names_of(change), lambda name: _part(name, 3, envelope))
            return F.when(
                F.size(names) > 0, F.array(_named(change, "table", table, names))
            ).otherwise(_nothing())

        def of_table(change: str) -> Column:
            return F.when(
                F.size(names_of(change)) > 0, F.array(_named(change, "table", table))
            ).otherwise(_nothing())

        unreplayed = names_of("not_applied")
        tables = F.array_distinct(F.concat(F.array(table), F.array_remove(unreplayed, "")))
        not_applied = F.when(envelope["is_unparsed"], F.size(found)).otherwise(F.size(unreplayed))
        return F.concat(
            of_columns("column_drop"),
            of_columns("column_respelling"),
            of_table("truncation"),
            of_table("row_move"),
            F.when(
                not_applied > 0,
                F.transform(tables, lambda name: _named("not_applied", "table", name)),
            ).otherwise(_nothing()),
        )

    found = F.flatten(
        F.transform(
            actions,
            lambda action: let(_trimmed(action), lambda action: _by_rules(action, rules)),
        )
    )
    return let(found, changes)


def _by_rules(text: Column, rules: Column) -> Column:
    """Return the array<named change> that the rules which fit a text give for the names in it.

    If there is no name in the text, a rule gives one change with an empty name.
    """

    def changes(rule: Column) -> Column:
        names = F.regexp_extract_all(
            # PySpark's own function takes no column as a pattern.
            F.call_function("regexp_extract", text, rule["pattern"], F.lit(1)),
            F.lit(EACH_TABLE),
            F.lit(1),
        )
        return F.transform(
            F.when(F.size(names) > 0, names).otherwise(F.array(F.lit(""))),
            lambda name: _named(rule["change"], rule["level"], name),
        )

    return F.flatten(
        F.transform(F.filter(rules, lambda rule: F.rlike(text, rule["pattern"])), changes)
    )


def _rules(rules: Sequence[Rule]) -> Column:
    return F.array(*map(_rule, rules))


def _rule(rule: Rule) -> Column:
    return F.struct(
        F.lit(ANY_CASE + rule.pattern).alias("pattern"),
        F.lit(rule.change).alias("change"),
        F.lit(rule.level).alias("level"),
    )


def _named(
    change: str | Column,
    level: str | Column,
    name: Column | None = None,
    columns: Column | None = None,
) -> Column:
    """Return a change with the name that the text has, as it is written there."""
    return F.struct(
        (F.lit(change) if isinstance(change, str) else change).alias("change"),
        (F.lit(level) if isinstance(level, str) else level).alias("level"),
        (F.lit("") if name is None else name).alias("name"),
        (F.lit(None) if columns is None else columns).cast("array<string>").alias("columns"),
    )


def _nothing() -> Column:
    return F.array().cast(
        "array<struct<change: string, level: string, name: string, columns: array<string>>>"
    )


def _change(named: Column, envelope: Column) -> Column:
    """Return the change with the full names that the text means, completed from the envelope."""
    level = named["level"]

    def resolved(parts: Column) -> Column:
        qualifier = F.when(level == "table", parts["second"]).when(
            level == "schema", parts["third"]
        )
        # Whether a single name before the table's name is a schema of the envelope's database.
        is_schema = (
            parts["first"].isNotNull()
            | envelope["source_type"].rlike(f"^(?:{WITH_SCHEMAS})$")
            | ((envelope["source_type"] == "") & qualifier.rlike(r"(?i)^(?:public|dbo)$"))
            | (envelope["schema"].isNotNull() & (envelope["source_type"] != "mysql"))
        )
        return F.struct(
            named["change"],
            F.when(level == "database", parts["third"])
            .when(
                level != "table_anywhere",
                F.coalesce(
                    parts["first"],
                    F.when(~is_schema, qualifier),
                    envelope["database"],
                ),
            )
            .alias("database_name"),
            F.when(is_schema & qualifier.isNotNull(), qualifier)
            .when(qualifier.isNull() & (level != "database"), envelope["schema"])
            .alias("schema_name"),
            F.when(level.isin("table", "table_anywhere"), parts["third"])
            .when(level == "own", envelope["table"])
            .alias("table_name"),
            named["columns"].alias("column_names"),
        )

    parts = {"first": 1, "second": 2, "third": 3}
    return let(
        F.struct(*(_part(named["name"], n, envelope).alias(part) for part, n in parts.items())),
        resolved,
    )


def _part(name: Column, part: int, envelope: Column) -> Column:
    """Return a part of a name as its system reads it; null if the name lacks this part.

    In quotes, the letters stay as they are, and a doubled quote is one quote.
    """
    quote, text = (F.regexp_extract(name, TABLE_PARTS, group) for group in (2 * part - 1, 2 * part))
    unquoted = (
        F.when(envelope["source_type"].rlike(UPPERCASING), F.upper(text))
        .when(envelope["source_type"].rlike(LOWERCASING), F.lower(text))
        .otherwise(text)
    )
    in_quotes = F.regexp_replace(text, r'(`)`|(")"|(\])\]', "$1$2$3")
    return F.nullif(F.when(quote == "", unquoted).otherwise(in_quotes), F.lit(""))


def _is_of_session(change: Column, source_type: Column) -> Column:
    """Return whether a change concerns a temporary table.

    In PostgreSQL and SQL Server, the names of tables and schemas show this.
    """
    schema = F.coalesce(change["schema_name"], change["database_name"], F.lit(""))
    has_sign = F.coalesce(change["table_name"], F.lit("")).startswith("#")
    return schema.rlike(r"(?i)^pg_temp(?:_\d+)?$") | (has_sign & (source_type == "sqlserver"))


def _without_settings(statement: Column) -> Column:
    return F.regexp_replace(_trimmed(statement), SETTINGS, "")


def _trimmed(text: Column) -> Column:
    return F.regexp_replace(text, r"^\s+|\s+$", "")
