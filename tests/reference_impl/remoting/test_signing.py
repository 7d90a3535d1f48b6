"""Signatures of requests; ``openssl dgst -sha1 -hmac`` computed the expected ones."""

from rocketmq_reference.remoting.frames import Command
from rocketmq_reference.remoting.signing import Credentials, signed

ACCOUNT = Credentials("rocketdiff", "s3cret-key")


def test_values_in_the_order_of_their_names_and_the_body_are_signed() -> None:
    """Values are signed in the order of their names (AccessKey rocketdiff, b T, c 70), then the body."""
    command = signed(Command(310, {"c": "70", "b": "T"}, b"body"), ACCOUNT)
    assert command.ext_fields == {
        "c": "70",
        "b": "T",
        "AccessKey": "rocketdiff",
        "Signature": "lGjDxfvz8u7bTK7gKFSmq42aRYE=",
    }
    assert (command.code, command.body) == (310, b"body")


def test_a_security_token_is_sent_and_signed() -> None:
    """A security token is sent and signed: AccessKey rocketdiff, SecurityToken token, b T, c 7."""
    command = signed(Command(310, {"b": "T", "c": "7"}), Credentials("rocketdiff", "s3cret-key", "token"))
    assert command.ext_fields["SecurityToken"] == "token"
    assert command.ext_fields["Signature"] == "4bMoM7aEwDb5UjEucdLuKcQPle0="


def test_a_signed_command_can_be_signed_again() -> None:
    """The signature itself is not signed, so a retry gets the same one."""
    once = signed(Command(310, {"b": "T", "c": "70"}, b"body"), ACCOUNT)
    assert signed(once, ACCOUNT).ext_fields == once.ext_fields


def test_a_representation_shows_no_secret() -> None:
    """The repr of credentials shows no secret, because it may appear in a message or log."""
    assert "s3cret" not in repr(Credentials("rocketdiff", "s3cret-key", "t0ken"))
    assert "t0ken" not in repr(Credentials("rocketdiff", "s3cret-key", "t0ken"))
