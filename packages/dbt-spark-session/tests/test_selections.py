"""Which tables a view selects from, and which views have new rows of their own."""

from __future__ import annotations

import pytest
from dbt.adapters.spark_session.selections import sources_of
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
