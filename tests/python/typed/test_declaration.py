"""What `vars: tables` may declare of a table, and what is said of everything else."""

from __future__ import annotations

from typing import Any

import pytest

from cdc_marts.typed.declaration import DeclarationError, check_declarations, declaration

ORDERS = {"source_format": "canal_json", "table_id": "shop.orders"}


def declared(**settings: Any) -> Any:
    return declaration("orders", {"orders": {**ORDERS, **settings}})


def test_a_declaration_needs_a_format_and_a_table() -> None:
    orders = declared()
    assert (orders.name, orders.source_format, orders.table_id) == (
        *("orders", "canal_json", "shop.orders"),
    )
    assert not any((orders.key, orders.renames, orders.casts, orders.partition_by))


def test_casts_are_to_types_as_spark_names_them() -> None:
    assert declared(casts={"amount": "Numeric(10, 2)"}).casts == {"amount": "decimal(10,2)"}


def test_the_checksum_changes_with_what_is_declared() -> None:
    checksums = {
        declared(**settings).checksum
        for settings in (
            *({}, {"key": ["id"]}, {"renames": {"id": "number"}}),
            *({"casts": {"id": "int"}}, {"partition_by": ["id"]}),
        )
    }
    assert len(checksums) == 5
    assert declared(casts={"id": "integer"}).checksum in checksums


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"source_format": "mongo"}, "there is no format `mongo`: there are lindorm_debezium, "),
        ({"source_format": None}, "it lacks `source_format`"),
        ({"table_id": ""}, "it lacks `table_id`"),
        ({"rename": {}}, "there is no option `rename`"),
        ({"renames": ["id"]}, "`renames` must be a mapping, not ['id']: write {column: new name}"),
        ({"casts": "int"}, "`casts` must be a mapping, not 'int': write {column: type}"),
        ({"partition_by": "id"}, "`partition_by` must be a list, not 'id': write [column, …]"),
        ({"key": {"id": 1}}, "`key` must be a list"),
        ({"casts": {"amount": "money"}}, "`amount` can't be cast to `money`"),
        ({"casts": {"amount": "decimal(39,2)"}}, "`amount` can't be cast to `decimal(39,2)`"),
    ],
)
def test_a_wrong_setting_is_said_with_its_mart(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(DeclarationError) as error:
        declared(**settings)
    assert error.value.msg.startswith("Typed mart `orders`: ")
    assert problem in error.value.msg


@pytest.mark.parametrize("tables", [None, {}, {"others": ORDERS}])
def test_a_mart_without_a_declaration_is_said(tables: Any) -> None:
    with pytest.raises(DeclarationError, match="Typed mart `orders`: it is not declared"):
        declaration("orders", tables)


def test_a_declaration_without_settings_is_said() -> None:
    with pytest.raises(DeclarationError, match="its declaration is None"):
        declaration("orders", {"orders": None})


def test_two_marts_of_a_table_have_one_key() -> None:
    tables = {"orders": {**ORDERS, "key": ["id"]}, "sales": {**ORDERS, "key": ["id"]}}
    check_declarations(tables)
    tables["sales"]["key"] = ["number"]
    with pytest.raises(DeclarationError, match=r"Typed mart `sales`: its `key` is \['number'\]"):
        check_declarations(tables)


def test_tables_without_a_mart_are_checked_too() -> None:
    with pytest.raises(DeclarationError, match="Typed mart `sales`: it lacks `table_id`"):
        check_declarations({"orders": ORDERS, "sales": {"source_format": "cdl_json"}})
