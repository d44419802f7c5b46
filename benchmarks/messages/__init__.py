"""The encoding of a change in each format. Each format has a module with one function.

`encode(change) -> list[Message]`: the messages of a change, in order.
"""

from __future__ import annotations

from importlib import import_module

from benchmarks.messages.message import Message
from benchmarks.workload import Change

#: The formats whose encoders know `Change.rare`.
FORMATS_WITH_RARE_CHANGES = ("canal_json", "cdl_debezium_json")


def encode(source_format: str, change: Change) -> list[Message]:
    return import_module(f"benchmarks.messages.{source_format}").encode(change)
