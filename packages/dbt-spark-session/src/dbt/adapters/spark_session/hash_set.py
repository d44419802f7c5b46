"""A condition made of hashes: it leaves out most rows of a table except those with some keys."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

#: The set has a bit for each hash, in words. With 130,000 rows in it, an eighth of other rows pass.
_WORDS, _BITS_OF_WORD = 2**14, 64
#: With more bits set, too many rows pass.
_MOST_BITS = _WORDS * _BITS_OF_WORD // 2


@dataclass(frozen=True, slots=True)
class HashSet:
    """The hashes of some rows: a bit for each row, in `words`."""

    words: tuple[int, ...]

    @classmethod
    def of(cls, rows: DataFrame, columns: Sequence[str]) -> HashSet | None:
        """Return the hashes of these columns of the rows; None if they are too many to help."""
        word, bit = _place_of(columns)
        in_words = rows.groupBy(F.expr(word).alias("word")).agg(
            F.expr(f"bit_or(shiftleft(1L, {bit}))").alias("bits")
        )
        found = in_words.select("word", "bits", F.bit_count("bits").alias("bit_count")).collect()
        if sum(row.bit_count for row in found) > _MOST_BITS:
            return None
        bits = {row.word: row.bits for row in found}
        return cls(tuple(bits.get(number, 0) for number in range(_WORDS)))

    def may_hold(self, columns: Sequence[str]) -> str:
        """Return a condition that all rows fulfil whose columns equal those of a row in the set.

        Few other rows fulfil it. `columns`: SQL expressions. Equal values have equal hashes if
        their types are the same, and neither doubles nor collated texts.
        """
        word, bit = _place_of(columns)
        # Spark reads one text much sooner than thousands of literals.
        words = f"from_json('{json.dumps(self.words)}', 'array<bigint>')"
        return f"getbit(element_at({words}, {word} + 1), {bit}) = 1"


def _place_of(columns: Sequence[str]) -> tuple[str, str]:
    """Return the word of the set and the bit in it for a row, as expressions of integers."""
    row_hash = f"xxhash64({', '.join(columns)})"
    # The word is the lowest bits of the hash, the bit its highest six.
    return (
        f"cast(pmod({row_hash}, {_WORDS}) as int)",
        f"cast(shiftrightunsigned({row_hash}, 58) as int)",
    )
