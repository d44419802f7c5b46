"""A store that speaks S3's protocol: moto's server, which keeps objects in memory.

It is no dependency of the project: `./run --with 'moto[s3,server]==5.*' pytest …` brings it.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.python.cluster.services import HOST, answer_of, free_port, wait_until


@dataclass(frozen=True)
class ObjectStore:
    """Where a bucket is, and who may read and write it."""

    endpoint: str
    bucket: str = "cdc"
    region: str = "us-east-1"

    @property
    def settings(self) -> dict[str, str]:
        """As PyIceberg names them, and a catalog in Spark."""
        return {
            "s3.endpoint": self.endpoint,
            "s3.access-key-id": "key-id",
            "s3.secret-access-key": "secret",
        }


@contextmanager
def object_store(folder: Path) -> Iterator[ObjectStore]:
    """A store with an empty bucket, as long as the block runs; its log is in `folder`."""
    if importlib.util.find_spec("moto") is None:
        pytest.skip("there is no moto here: ./run --with 'moto[s3,server]==5.*' pytest …")
    port = free_port()
    store = ObjectStore(f"http://{HOST}:{port}")
    with (folder / "store.log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", HOST, "-p", str(port)],
            stdout=log,
            stderr=log,
        )
    try:
        health = f"{store.endpoint}/moto-api/data.json"
        wait_until(lambda: answer_of(health) is not None, "the store answers")
        bucket = urllib.request.Request(f"{store.endpoint}/{store.bucket}", method="PUT")
        urllib.request.urlopen(bucket).close()
        yield store
    finally:
        server.kill()
        server.wait()
