"""Which tables a view selects from, and which views have new rows of their own."""

from __future__ import annotations

import pytest
from dbt.adapters.spark_session.selections import looked_up_by, replaced, sources_of
from dbt_common.exceptions import DbtRuntimeError

SELECTIONS = {
    "select * from s.a": ["s.a"],
    "select extract(year from x.y), trim(both from t.u) from s.a": ["s.a"],
    "-- from s.b\nselect 'from s.c' as text, \"from s.d\" /* from s.e */ from s.a": ["s.a"],
    "select * except (x) from `s`.`a` as a left join s.b as b on a.x = b.x": ["`s`.`a`"],
    "select x from s.a union all select x from s.b\nunion all select x from s.a": [
        "s.a",
        "s.b",
        "s.a",
    ],
    "select * from (select * from s.a where x in (select x from s.b)) as a": ["s.a"],
    "select item from s.a lateral view explode(items) as item": ["s.a"],
    "select map_keys(cast(`row` as map<string, variant>)) from s.a where not is_old": ["s.a"],
}
REFUSED = {
    "select * from s.a inner join s.b on a.x = b.x": "left join",
    "select * from s.a, s.b": "left join",
    "select * from s.a left anti join s.b on a.x = b.x": "left join",
    "select * from s.a left semi join s.b on a.x = b.x": "left join",
    "select x, count(*) from s.a group by x": "group by",
    "select max(x) from s.a": "from several rows",
    "select row_number() over (order by x) from s.a": "from several rows",
    "select distinct x from s.a": "distinct",
    "select x from s.a union select x from s.b": "distinct",
    "select x from s.a except all select x from s.b": "not a select",
    "select * from s.a limit 1": "limit",
    "select * from s.a order by x": "order",
    "with a as (select * from s.a) select * from a": "common table",
    "select 1": "schema.table",
    "select * from a": "schema.table",
    "select * from catalog.s.a": "schema.table",
    "select * from s.a version as of 1": "schema.table",
    "select * from": "parsed",
}


#: Query -> the tables that it looks up by an alias alone.
LOOKING_UP = {
    "select a.x, B.*, b.x.y from s.a as a left join `s`.`b` as b on a.x = b.x": ["`s`.`b`"],
    "select * from s.a left join s.b b using (x) left join t.c as c on c.x = a.x": ["s.b", "t.c"],
    "with a as (select x from s.a inner join s.b as b using (x)) select * from a": ["s.b"],
    "select * from s.a left join s.b on a.x = b.x": [],
    "select a._row_id, B._file from s.a as a left join s.b as b on a.x = b.x": [],
    "select * from s.a left join s.b version as of 1 as b using (x)": [],
    "select * from s.a left join c.s.b as b using (x)": [],
    "select * from s.a left join (select * from s.b) as b using (x)": [],
    "with b as (select 1 as x) select * from s.a left join b as b using (x)": [],
}


@pytest.mark.parametrize("query", SELECTIONS)
def test_a_selection_names_its_sources(query: str) -> None:
    assert [query[source.start : source.end] for source in sources_of(query)] == SELECTIONS[query]


def test_a_query_that_says_why_may_be_anything() -> None:
    query = """with
    -- new rows may be read: they say which keys changed
    a as (select x from s.a inner join s.c using (x) group by x)
    select * from a union all select x from s.b"""
    assert [query[source.start : source.end] for source in sources_of(query)] == ["s.a", "s.b"]
    with pytest.raises(DbtRuntimeError, match="can't be read"):
        sources_of(query.replace(": they say which keys changed", ":"))


def test_names_are_without_quotes() -> None:
    assert [source.name for source in sources_of("select * from `s`.`a`")] == ["s.a"]


@pytest.mark.parametrize("query", REFUSED)
def test_a_query_whose_rows_are_not_made_one_by_one_is_refused(query: str) -> None:
    with pytest.raises(DbtRuntimeError, match=REFUSED[query]):
        sources_of(query)


@pytest.mark.parametrize("query", LOOKING_UP)
def test_a_subquery_can_stand_for_a_table_that_is_named_by_an_alias(query: str) -> None:
    assert [query[found.start : found.end] for found in looked_up_by(query)] == LOOKING_UP[query]


def test_tables_are_replaced_in_their_places() -> None:
    query = "select * from s.a as a left join s.b as b on a.x = b.x union all select * from s.a"
    texts = dict.fromkeys(sources_of(query), "(new rows)")
    texts |= dict.fromkeys(looked_up_by(query), "(nothing)")
    assert replaced(query, texts) == (
        "select * from (new rows) as a left join (nothing) as b on a.x = b.x"
        " union all select * from (new rows)"
    )
