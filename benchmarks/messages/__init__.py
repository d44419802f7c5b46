"""How each format tells a change: one module a format, alike in one function.

`tell(change) -> list[Message]`: the messages of a change, in order.
"""

from __future__ import annotations

from importlib import import_module

from benchmarks.messages.message import Message
from benchmarks.workload import Change


def tell(source_format: str, change: Change) -> list[Message]:
    return import_module(f"benchmarks.messages.{source_format}").tell(change)
