"""What `maintain` knows of the project, as dbt reads it; no Spark session is needed for that."""

from __future__ import annotations

from cdc_marts.operations.maintenance_plan import maintenance_plan
from cdc_marts.project.target import Target
from cdc_marts.source_formats import SOURCE_FORMATS
from tests.python.harness.manifest import ROOT

#: What has rows of all formats.
OF_ALL_FORMATS = {
    *("marts.change_events", "marts.latest_state", "marts.row_history", "marts.source_tables"),
    *("marts.ddl_events", "marts.heartbeats", "marts.transaction_events"),
    *("marts.quarantined_messages", "marts.message_ledger"),
}


def test_the_marts_that_are_made_from_messages_of_a_format_are_known() -> None:
    marts = maintenance_plan(Target.find("demo", ROOT, ROOT / "profiles")).marts

    assert tuple(marts) == SOURCE_FORMATS
    assert all(set(names) >= OF_ALL_FORMATS for names in marts.values())
    typed = {name: set(names) - OF_ALL_FORMATS for name, names in marts.items()}
    assert {name: names for name, names in typed.items() if names} == {
        "canal_json": {"marts.shop_orders"},
        "cdl_json": {"marts.shop_customers"},
        "datahub_tuple": {"marts.shop_payments"},
    }
