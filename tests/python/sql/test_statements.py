"""Which texts are queries."""

from __future__ import annotations

import pytest

from cdc_marts.sql.statements import StatementError, check_is_query, split_statements


@pytest.mark.parametrize(
    "query",
    [
        "select row:name::string as name from marts.latest_state",
        "SELECT delete, `insert` from t -- drop table t",
        "/* c */ with a as (select 1) select * from a union all (select 2)",
        "(select 1) union all select 2",
        "values (1), (2)",
        "select * from marts.change_events version as of 3",
        "select 'insert into t', r'\\d', \"; drop table t\"",
        "show tables in marts",
        "show create table marts.shop_orders",
        "describe marts.latest_state",
        "desc extended marts.latest_state",
        "explain formatted select 1",
        # sqlglot does not know them; Spark does, or says best what is wrong.
        "select * from t tablesample (10 fishes)",
    ],
)
def test_queries_run(query: str) -> None:
    check_is_query(query)


@pytest.mark.parametrize(
    "statement",
    [
        "insert into t select 1",
        "with a as (select 1) insert into t select * from a",
        "from a insert into b select * insert into c select *",
        "with a as (select 1) from a insert overwrite b select *",
        "with a as (select 1) delete from t",
        "delete from t",
        "update t set a = 1",
        "merge into a using b on a.x = b.x when matched then delete",
        "/* select */ create table t as select 1",
        "create or replace view v as select 1",
        "drop table t",
        "truncate table t",
        "alter table t add column a int",
        "call cdc.system.expire_snapshots('t')",
        "set spark.sql.ansi.enabled = true",
        "use marts",
        "cache table t",
        "refresh table t",
        "add jar 'x'",
        "analyze table t compute statistics",
        "selec 1",
        # Nor does sqlglot know these: what may be a write is refused.
        "with a as (select 1 !! 2) delete from t",
        "from t !! insert into b select *",
    ],
)
def test_other_statements_are_refused_in_a_sentence(statement: str) -> None:
    with pytest.raises(StatementError, match="Only queries run here"):
        check_is_query(statement)


def test_a_text_is_split_at_its_semicolons_alone() -> None:
    text = "select ';' as a; -- one; more\n select 2 /* ; */;;\nselect `;`"
    assert split_statements(text) == ["select ';' as a", "select 2 /* ; */", "select `;`"]
    assert split_statements(" ; \n") == []


def test_a_text_that_ends_too_early_is_said() -> None:
    with pytest.raises(StatementError, match="not complete SQL"):
        split_statements("select 'abc")
