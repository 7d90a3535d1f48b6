"""What `subject check` says of errors under names that RocketMQ does not have; records in, sentences out."""

from rocketdiff.core.records import Attempt, Send
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.run.subject_check import foreign_errors


def told(*errors: str) -> list[str]:
    transcript = Transcript()
    for number, error in enumerate(errors):
        transcript.keep(Attempt(number, 0, 0, "broker-a", 0, 1, 2, error))
        transcript.keep(Send(number, 0, 1, 2, error=error))
    findings = list(foreign_errors(transcript))
    assert not any(finding.problem for finding in findings)
    return [finding.tried for finding in findings]


def test_names_of_the_clients_own_are_named_once_with_the_words_to_report() -> None:
    """It breaks no rule of the protocol; but each is a difference for ever, whatever happened."""
    (sentence,) = told("errors.errorString", "AcmeTimeout", "AcmeTimeout")
    assert sentence.startswith("errors AcmeTimeout, errors.errorString: RocketMQ has no such class")
    assert "timeout, refused, connection-lost" in sentence


def test_words_and_classes_of_rocketmq_are_right() -> None:
    """And so are the two names that stand for what a client cannot know."""
    assert (
        told("timeout", "other", "RemotingTimeoutException", "MQClientException", "UnseenEnd", "NeverCalledBack") == []
    )
