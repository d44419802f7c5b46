"""Profiles as sections of a page."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import report
from benchmarks.full import BASELINE, BASELINE_STATE, STATE
from profiling import rebuild
from profiling.parse import OTHER, PARSER, PARTS, Parse
from profiling.rebuild import Rebuild

#: Times are shown for so many messages, whatever number was parsed.
_PARSED = 100_000


def parses(measured: Sequence[Parse]) -> list[str]:
    """Return a section that compares the formats, and one per format with parts of its parse."""
    rows = [
        [
            f"`{parse.source_format}`",
            *(f"{parse.seconds_of(what, _PARSED):.2f}" for what in (PARSER, BASELINE)),
            f"{parse.seconds_of(PARSER, _PARSED) / parse.seconds_of(BASELINE, _PARSED):.2f}",
        ]
        for parse in measured
    ]
    unit = f"s for {_PARSED:,} messages"
    head = ["format", f"{PARSER}: {unit}", f"{BASELINE}: {unit}", f"{PARSER} / {BASELINE}"]
    return ["## Against the baseline\n\n" + report.table(head, rows), *map(_parse, measured)]


def _parse(parse: Parse) -> str:
    parts = sorted((*PARTS, OTHER), key=lambda part: -parse.share_of(PARSER, part))
    rows = [
        [
            part,
            f"{parse.share_of(PARSER, part):.0%}",
            *(
                f"{parse.share_of(what, part) * parse.seconds_of(what, _PARSED):.2f}"
                for what in (PARSER, BASELINE)
            ),
        ]
        for part in parts
    ]
    head = ["part", f"share of the {PARSER}", f"{PARSER}, s", f"{BASELINE}, s"]
    title = f"## {parse.source_format}, processor seconds for {_PARSED:,} messages"
    return f"{title}\n\n{report.table(head, rows)}"


def rebuilds(measured: Sequence[Rebuild]) -> list[str]:
    """Return a section that compares the formats, and one per format with the threads of Java."""
    compared = (STATE, BASELINE_STATE)
    rows = [
        [
            f"`{one.source_format}`",
            *(f"{one.seconds_of(what):.2f}" for what in compared),
            f"{one.seconds_of(STATE) / one.seconds_of(BASELINE_STATE):.2f}",
            *(f"{one.tasks_of(what):.2f}" for what in compared),
            f"{one.tasks_of(STATE) / one.tasks_of(BASELINE_STATE):.2f}",
        ]
        for one in measured
    ]
    head = ["format", *(f"{what}, s" for what in compared), "ratio"]
    head += [f"tasks of {what}, processor s" for what in compared]
    return [
        "## Against the baseline\n\n" + report.table([*head, "ratio of the tasks"], rows),
        *map(_rebuild, measured),
    ]


def _rebuild(one: Rebuild) -> str:
    compared = (STATE, BASELINE_STATE)
    rows = [
        [part, *(f"{one.processor_seconds[what][part]:.2f}" for what in compared)]
        for part in (*rebuild.PARTS, rebuild.OTHER)
    ]
    rows.append(["all", *(f"{sum(one.processor_seconds[what].values()):.2f}" for what in compared)])
    title = f"## {one.source_format}, {one.messages:,} messages, processor seconds of Java"
    return f"{title}\n\n{report.table(['part', *compared], rows)}"
