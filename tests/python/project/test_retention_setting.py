"""The setting `retention` says what it means, or what is wrong with it."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest
import typer

from cdc_marts.cli.console import confirm_or_stop
from cdc_marts.cli.maintain import NOT_CONFIRMED
from cdc_marts.operations.retention import RetentionError, days_of


@pytest.mark.parametrize(
    ("setting", "days"),
    [
        (None, None),
        ({}, None),
        ({"landing": "90 days"}, 90),
        ({"landing": " 1 day "}, 1),
        ({"landing": "2 weeks"}, 14),
        ({"landing": "1 year"}, 365),
    ],
)
def test_messages_are_kept_for_a_number_of_days(setting: Any, days: int | None) -> None:
    assert days_of(setting) == days


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"landing": 90}, "90 is not a number of days, weeks or years"),
        ({"landing": "90"}, "'90' is not a number of days"),
        ({"landing": "3 months"}, "'3 months' is not a number of days"),
        ({"landing": "12 hours"}, "'12 hours' is not a number of days"),
        ({"landing": "-1 days"}, "'-1 days' is not a number of days"),
        ({"landing": None}, "None is not a number of days"),
        ({"landing": "0 days"}, "'0 days' is less than a day"),
        ({"landings": "90 days"}, "it has `landings`"),
        ({"landing": "90 days", "marts": "1 day", "x": 1}, "it has `marts`, `x`"),
        ("90 days", "it is not a mapping ('90 days')"),
        ([90], "it is not a mapping ([90])"),
    ],
)
def test_a_wrong_setting_is_named_with_a_right_one(setting: Any, message: str) -> None:
    with pytest.raises(RetentionError) as error:
        days_of(setting)
    assert message in str(error.value)
    assert "{landing: 90 days}" in str(error.value)


def test_staging_can_not_be_shortened() -> None:
    with pytest.raises(RetentionError, match=r"can't name `staging`.*Only `landing`"):
        days_of({"landing": "90 days", "staging": "1 year"})


@pytest.mark.parametrize("answer", ["", "n\n"])
def test_maintenance_that_nobody_confirms_says_what_to_do(
    answer: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A schedule has no terminal, so nobody answers."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
    with pytest.raises(typer.Exit) as stopped:
        confirm_or_stop("Remove them?", NOT_CONFIRMED)
    assert stopped.value.exit_code == 1
    assert "run `cdc-marts maintain --yes` once by hand" in capsys.readouterr().err


def test_maintenance_that_somebody_confirms_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    confirm_or_stop("Remove them?", NOT_CONFIRMED)
    said = capsys.readouterr()
    assert "Remove them?" in said.out
    assert said.err == ""
