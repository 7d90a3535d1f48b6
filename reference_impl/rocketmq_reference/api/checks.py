"""Validation of groups (Validators)."""

from rocketmq_reference.client.message_checks import check_name
from rocketmq_reference.remoting.errors import MQClientException

GROUP_MAX_LENGTH = 255


def check_group(group: str) -> None:
    """
    Check that a producer group has 1 to 255 of letters, digits, ``%|_-`` and is not the default (Validators.checkGroup, 5.3.3).

    Raises MQClientException.
    """
    check_name("group", group, GROUP_MAX_LENGTH)
    if group == "DEFAULT_PRODUCER":
        raise MQClientException("producerGroup can not equal DEFAULT_PRODUCER, please specify another one.")
