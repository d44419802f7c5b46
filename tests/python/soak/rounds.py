"""What `cdc-marts run --every` says of its rounds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_ROUND = re.compile(
    r"^(?P<at>\S+ \S+) UTC  round (?P<number>\d+) (?P<outcome>succeeded|failed)(?P<parts>.*)$",
    re.MULTILINE,
)
_LANDED = re.compile(r"landed ([\d,]+) message")
_SECONDS = re.compile(r"in ([\d.]+) s\b")


@dataclass(frozen=True)
class Round:
    """A round, as its line describes it."""

    number: int
    has_succeeded: bool
    landed: int
    #: landing and dbt
    seconds: float


def rounds_of(log: Path) -> Sequence[Round]:
    """The rounds that have ended, in their order."""
    if not log.exists():
        return []
    rounds = []
    for found in _ROUND.finditer(log.read_text("utf-8", errors="replace")):
        landed = _LANDED.search(found["parts"])
        rounds.append(
            Round(
                int(found["number"]),
                found["outcome"] == "succeeded",
                int(landed[1].replace(",", "")) if landed else 0,
                sum(map(float, _SECONDS.findall(found["parts"]))),
            )
        )
    return rounds
