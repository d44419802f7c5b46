"""What the adapter says reaches the function of a command, while the command opens or waits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.events.event_manager_client import get_event_manager

from cdc_marts.project.notices import notices
from cdc_marts.project.profile import state_folder
from cdc_marts.project.target import Target
from tests.python.harness.manifest import ROOT


@pytest.fixture
def said_elsewhere() -> Iterator[list[str]]:
    """What the adapter says to a function that other code registered."""
    said: list[str] = []
    manager = get_event_manager()
    before, manager.callbacks = manager.callbacks, [lambda event: said.append(event.info.msg)]
    yield said
    manager.callbacks = before


def test_notices_reach_the_function_while_the_block_runs(said_elsewhere: list[str]) -> None:
    adapter = AdapterLogger("Spark")
    noticed: list[str] = []

    with notices(noticed.append):
        adapter.info("Another run uses the folder.")
        adapter.debug("unimportant")
    adapter.info("Later.")

    assert noticed == ["Another run uses the folder."]
    assert said_elsewhere == ["Spark adapter: Later."]


def test_reading_a_setting_leaves_registered_functions_alone(said_elsewhere: list[str]) -> None:
    state_folder(Target("local", ROOT, ROOT / "profiles"))
    AdapterLogger("Spark").info("Waiting.")
    assert said_elsewhere == ["Spark adapter: Waiting."]
