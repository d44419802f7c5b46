"""Which format the messages of a topic have, and what is said of a map that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdc_marts.landing import LandingError
from cdc_marts.landing.topic_map import SKIP, TopicMap

MAP = """\
topics:
  orders: canal_json
  orders_*: dts_avro          # but not orders_old
  orders_old: skip
  "[a-c]*": cdl_json
  o*: dataworks_json
files:
  "*-orders.txt": orders
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "topics.yml"


def test_a_name_is_stronger_than_a_pattern_and_an_earlier_pattern_than_a_later(path: Path) -> None:
    path.write_text(MAP)
    topics = TopicMap.read(path)

    formats = {t: topics.format_of(t) for t in ("orders", "orders_eu", "orders_old", "b", "o", "x")}

    assert formats == {
        "orders": "canal_json",
        "orders_eu": "dts_avro",
        "orders_old": SKIP,
        "b": "cdl_json",
        "o": "dataworks_json",
        "x": None,
    }
    assert topics.names == ["orders"]
    assert topics.patterns == ["orders_*", "[a-c]*", "o*"]


def test_files_of_bare_messages_are_known_by_their_names(path: Path) -> None:
    path.write_text(MAP)
    topics = TopicMap.read(path)

    assert topics.topic_of_file(Path("in/2026-orders.txt")) == "orders"
    assert topics.topic_of_file(Path("in/orders.jsonl")) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("topics:\n  a: cdl_json\n  b: canal-json\n", ":3: There is no format 'canal-json'. Did"),
        ("topics:\n  a: canal_json\n  a: cdl_json\n", ":3: this is not YAML: found duplicate key"),
        ("topics:\n  a: [canal_json\n", ": this is not YAML: "),
        ("topics:\n  a:\n", ":2: a needs a name after the colon, not None"),
        ("topics:\n  7: canal_json\n", ":2: 7 is no text. Put it between quotes."),
        ("topics:\n  - a\n", ":1: `topics` needs lines such as"),
        (
            "topic:\n  a: canal_json\n",
            ":1: there is no setting 'topic', only topics and files.",
        ),
        ("files: {}\n", "names no topics. List each topic with its format"),
        ("", "is no map of topics. Write `topics:`"),
        ("topics: {a: cdl_json}\nfiles:\n  x: b\n", ":3: the topic b has no format. Add it below"),
        ("topics: {a: cdl_json}\nfiles:\n  d/*: a\n", ":3: 'd/*' names a folder"),
        ("topics:\n  <<: {7: canal_json}\n", ":2: 7 is no text. Put it between quotes."),
    ],
)
def test_a_wrong_map_names_the_line_and_what_to_do(path: Path, text: str, message: str) -> None:
    path.write_text(text)

    with pytest.raises(LandingError) as error:
        TopicMap.read(path)

    assert str(error.value).startswith(str(path))
    assert message in str(error.value)
