"""A round as text: a line with counts and times, and what failed or warns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cdc_marts.operations.rounds import Round
from cdc_marts.printing import counted, printable

#: The most failures, and warnings, that are shown one by one; the others are counted.
_MOST_SHOWN = 10


def lines_of(done: Round, dbt: str) -> Iterator[str]:
    """Yield a line with the counts and times of a round, and a line for each failure."""
    parts = []
    formats = [
        f"{landing.source_format} {landing.messages.total():,}"
        for landing in done.landings
        if landing.messages
    ]
    if done.landings or done.landing_seconds is not None:
        in_formats = f" ({', '.join(formats)})" if formats else ""
        took = "" if done.landing_seconds is None else f" in {done.landing_seconds:.1f} s"
        parts.append(f"landed {counted(done.landed, 'message')}{in_formats}{took}")
        if repeated := sum(landing.repeated for landing in done.landings):
            parts.append(f"{repeated:,} of them had landed before")
        if waiting := sum(landing.waiting for landing in done.landings):
            parts.append(f"up to {counted(waiting, 'message')} still wait in Kafka")
    outcome = done.dbt
    if outcome is not None:
        nodes = ", ".join(f"{count:,} {status}" for status, count in sorted(outcome.nodes.items()))
        parts.append(f"{dbt}: {nodes or 'nothing'} in {done.dbt_seconds:.1f} s")
    what = "failed" if done.failure else "succeeded"
    yield (
        f"{done.started_at:%Y-%m-%d %H:%M:%S} UTC  round {done.number} {what}"
        + (f": {'; '.join(parts)}" if parts else "")
    )
    if done.failure:
        yield f"  {printable(done.failure)}"
    if outcome is not None:
        yield from _shown((f"{name}: {said}" for name, said in outcome.failed.items()), "failure")
        yield from _shown((f"{name} warns" for name in outcome.warned), "warning")


def _shown(lines: Iterable[str], thing: str) -> Iterator[str]:
    lines = list(lines)
    for line in lines[:_MOST_SHOWN]:
        yield f"  {printable(line)}"
    if len(lines) > _MOST_SHOWN:
        yield f"  and {counted(len(lines) - _MOST_SHOWN, thing)} more"
