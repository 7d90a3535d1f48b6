"""
Text of the file in which a member of a broadcasting group keeps its offsets (OffsetSerializeWrapper, written by fastjson).

No JSON: the names of its pairs are objects. Up to 5.3.3; 5.4.0 breaks lines elsewhere, and reads this.
"""

import json
import re
from collections.abc import Mapping

LocalQueue = tuple[str, str, int]
"""Topic, broker, queue id."""

_PAIR = re.compile(r'\s*(\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\})\s*:\s*(-?\d+)\s*')
_WHOLE = re.compile(r'\s*\{\s*(?:"offsetTable"\s*:\s*\{(?P<pairs>.*)\})?\s*\}\s*', re.DOTALL)


def encode_local_offsets(offsets: Mapping[LocalQueue, int]) -> str:
    """Return the text, byte by byte as clients up to 5.3.3 write it, but for the order of the queues."""
    pairs = ",".join(
        f'{{\n\t\t\t"brokerName":{_quoted(broker)},\n\t\t\t"queueId":{queue_id},\n\t\t\t"topic":{_quoted(topic)}\n\t\t}}:{value}'
        for (topic, broker, queue_id), value in offsets.items()
    )
    table = f"{{{pairs}\n\t}}" if pairs else "{}"
    return f'{{\n\t"offsetTable":{table}\n}}'


def decode_local_offsets(text: str) -> dict[LocalQueue, int]:
    """Return the offsets in a text; raises ValueError for any other text."""
    whole = _WHOLE.fullmatch(text)
    if whole is None:
        raise ValueError(f"expected a table of offsets, saw {text[:80]!r}")
    offsets: dict[LocalQueue, int] = {}
    rest = (whole["pairs"] or "").strip()
    while rest:
        pair = _PAIR.match(rest)
        if pair is None or rest[pair.end() : pair.end() + 1] not in ("", ","):
            raise ValueError(f"expected a queue and its offset, saw {rest[:80]!r}")
        queue = json.loads(pair[1])
        try:
            offsets[str(queue["topic"]), str(queue["brokerName"]), int(queue["queueId"])] = int(pair[2])
        except KeyError as error:
            raise ValueError(f"expected a queue with {error}, saw {pair[1][:80]!r}") from error
        rest = rest[pair.end() + 1 :]
    return offsets


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
