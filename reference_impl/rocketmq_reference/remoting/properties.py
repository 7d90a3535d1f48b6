"""
Message properties as one text: name, byte 1, value, byte 2, and so on (MessageDecoder, 4.0.0-incubating to 5.3.3).
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
"""Names of MessageConst that this package sets or looks at."""


def encode_properties(properties: Mapping[str, str]) -> str:
    """Every pair followed by a separator (messageProperties2String; 4.9.4 leaves the last one out, all releases read both)."""
    return "".join([f"{name}{NAME_VALUE_SEPARATOR}{value}{PROPERTY_SEPARATOR}" for name, value in properties.items()])


def decode_properties(text: str) -> dict[str, str]:
    """The pairs of a text; what is no pair, or has an empty name or value, is passed over (string2messageProperties)."""
    properties: dict[str, str] = {}
    for pair in text.split(PROPERTY_SEPARATOR):
        name, separator, value = pair.partition(NAME_VALUE_SEPARATOR)
        if separator and name and value:
            properties[name] = value
    return properties
