"""The key settings that the samples need: tables whose messages do not tell their key.

`payments` of SharePlex has none on purpose: its rows are known by their row address.
"""

from __future__ import annotations

#: Format -> table_id -> key columns.
KEY_COLUMNS: dict[str, dict[str, list[str]]] = {
    "lindorm_debezium": {"ld-xxxx.default.customers": ["id"]},
    "shareplex_json": {"SHOP.CUSTOMERS": ["ID"], "SHOP.ORDERS": ["ID"]},
    "datahub_tuple": {
        "t_shiyu_pk": ["id", "name"],
        "customers": ["id"],
        "shop.orders": ["id"],
        "shop.payments": ["order_id", "number"],
    },
}
