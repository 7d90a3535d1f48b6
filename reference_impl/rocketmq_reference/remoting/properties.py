"""
Message properties as one text: name, byte 1, value, byte 2, … (MessageDecoder, every release).
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
ORIGIN_MESSAGE_ID = "ORIGIN_MESSAGE_ID"
MIN_OFFSET = "MIN_OFFSET"
MAX_OFFSET = "MAX_OFFSET"
CONSUME_START_TIME = "CONSUME_START_TIME"
TRANSACTION_PREPARED = "TRAN_MSG"
"""Names of MessageConst that this package sets or reads."""


def encode_properties(properties: Mapping[str, str], *, closed: bool = True) -> str:
    """
    Return the pairs as one text (messageProperties2String).

    closed: a separator follows the last pair too, as in every release but 4.9.1 to 4.9.8 and 5.0.0 to 5.1.4. Every release reads
    both, but brokers before 4.9.7 append a property of their own to those of a batch, which spoils the last one if none follows.
    """
    pairs = [f"{name}{NAME_VALUE_SEPARATOR}{value}" for name, value in properties.items()]
    return PROPERTY_SEPARATOR.join([*pairs, ""] if closed and pairs else pairs)


def decode_properties(text: str) -> dict[str, str]:
    """Return the pairs of a text, skipping parts without a name, separator or value (string2messageProperties)."""
    properties: dict[str, str] = {}
    for pair in text.split(PROPERTY_SEPARATOR):
        name, separator, value = pair.partition(NAME_VALUE_SEPARATOR)
        if separator and name and value:
            properties[name] = value
    return properties
