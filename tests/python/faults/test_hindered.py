"""A run that can't go on says what is wrong, where, and what to do; the next one finishes it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.python.faults.java import java_of
from tests.python.harness.processes import Home, all_samples
from tests.python.samples.files import samples

pytestmark = pytest.mark.long

needs_mounts = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@needs_mounts
def test_a_full_disk_is_told_and_what_was_committed_stays(disk: Path, work: Path) -> None:
    home = Home(disk / "home", work)
    home.land(all_samples())
    ballast = disk / "ballast"
    _fill(ballast, disk, but=600_000)

    run = home.dbt("run")
    assert run.wait() == 1
    messages = [line for line in home.output().splitlines() if "No space left on device" in line]
    assert messages, home.output()
    for line in messages:
        assert f"The folder {home.folder / 'local'} is full" in line
        assert "free space there" in line and "CDC_MARTS_HOME" in line
    assert "\tat " not in home.output()

    ballast.unlink()
    home.run()
    [ledger] = home.content("marts.message_ledger").values()
    assert len(ledger) > 0


def test_a_killed_jvm_is_told(tmp_path: Path, work: Path) -> None:
    home = Home(tmp_path / "home", work)
    home.land({"canal_json": samples("canal_json")})
    run = home.dbt("run")
    while b"START python incremental model" not in home.log.read_bytes():
        assert run.poll() is None, home.output()
    java = java_of(run)
    assert java is not None
    java.kill()

    assert run.wait() == 1
    assert "Spark's Java process has ended" in home.output()
    home.run()


def _fill(ballast: Path, disk: Path, but: int) -> None:
    """Leave `but` bytes free."""
    room = os.statvfs(disk)
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_bsize - but)
