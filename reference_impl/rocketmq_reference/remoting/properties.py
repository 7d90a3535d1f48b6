"""
Message properties as one text: name, byte 1, value, byte 2, … (MessageDecoder, 4.0.0-incubating to 5.3.3).
"""

from collections.abc import Mapping

NAME_VALUE_SEPARATOR = "\x01"
PROPERTY_SEPARATOR = "\x02"

KEYS = "KEYS"
TAGS = "TAGS"
WAIT = "WAIT"
UNIQ_KEY = "UNIQ_KEY"
CLUSTER = "CLUSTER"
DELAY = "DELAY"
RETRY_TOPIC = "RETRY_TOPIC"
RECONSUME_TIME = "RECONSUME_TIME"
MAX_RECONSUME_TIMES = "MAX_RECONSUME_TIMES"
"""Names of MessageConst that this package sets or reads."""


def encode_properties(properties: Mapping[str, str]) -> str:
    """Return the pairs, a separator after each (messageProperties2String; 4.9.4 omits the last, every release reads both)."""
    return "".join([f"{name}{NAME_VALUE_SEPARATOR}{value}{PROPERTY_SEPARATOR}" for name, value in properties.items()])


def decode_properties(text: str) -> dict[str, str]:
    """Return the pairs of a text, skipping parts without a name, separator or value (string2messageProperties)."""
    properties: dict[str, str] = {}
    for pair in text.split(PROPERTY_SEPARATOR):
        name, separator, value = pair.partition(NAME_VALUE_SEPARATOR)
        if separator and name and value:
            properties[name] = value
    return properties
