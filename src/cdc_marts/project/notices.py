"""What the adapter says while a session opens, or while a process waits for another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def notices(on_notice: Callable[[str], None]) -> Iterator[None]:
    """Pass the adapter's notices to a function, and nowhere else, while the block runs."""
    from dbt_common.events.event_manager_client import get_event_manager

    def pass_on(event: Any) -> None:
        if event.info.level in ("info", "warn", "error"):
            on_notice(event.info.msg.removeprefix("Spark adapter: "))

    manager = get_event_manager()
    # An earlier command of dbt in this process may have left loggers that print.
    before = manager.loggers, manager.callbacks
    manager.loggers, manager.callbacks = [], [pass_on]
    try:
        yield
    finally:
        manager.loggers, manager.callbacks = before
