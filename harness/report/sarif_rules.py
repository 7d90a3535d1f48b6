"""The rules of a SARIF log: one a property that a check looks at, in a sentence for whoever meets the alert first."""

from collections.abc import Iterable
from typing import Any

STALE_RULE = "stale-ledger-entry"

SENTENCES = {
    "queue-choice": "Every attempt goes to a queue that the rules of the client's release allow there.",
    "attempts": "A send makes as many attempts, and after the same failures, as the rules of its release say.",
    "avoidance": "A slow or failed broker is avoided for as long as the rules of the release say.",
    "error-kind": "A send that fails does so with the exception and code that the rules of the release say.",
    "timing": "Sends in calm take as long as the other client's, within the scenario's margin.",
    "failover-time": "The first success after a fault comes as soon as the other client's, within the margin.",
    "loss": "What the client was told is stored is stored.",
    "duplication": "A message is stored more than once only where an attempt of it had no answer.",
    "content": "A message is stored with the body, keys, tags and properties that it was sent with.",
    "order": "Messages of a key are stored in the order in which they were sent.",
    "callbacks": "The callback of an asynchronous send is called, and once.",
    "delay": "A delayed message is kept back under its level, and delivered when it is due.",
    "outcomes": "Sends fail, are stored twice and are acknowledged as those of the other client, and never without a cause.",
    "protocol": "The subject tells about its sends in time, in order and without contradiction.",
    "validity": "The set-up of the case held: faults proven, both clients in time, everything read back.",
    "simulation": "Both clients answer every step of a simulated scenario alike.",
    STALE_RULE: "Every declared divergence still occurs as often as its ledger entry says.",
}


def rules_of(results: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """A rule for each property that has a result, in the order of the table above; its level is its gravest result's."""
    grave = ("none", "note", "warning", "error")
    levels: dict[str, str] = {}
    for result in results:
        known = levels.get(result["ruleId"], "none")
        levels[result["ruleId"]] = max(known, result["level"], key=grave.index)
    order = [*SENTENCES, *sorted(set(levels) - set(SENTENCES))]
    return [_rule(name, levels[name]) for name in order if name in levels]


def _rule(name: str, level: str) -> dict[str, Any]:
    sentence = SENTENCES.get(name, f"The question {name} of a rocketdiff scenario.")
    return {
        "id": name,
        "name": "".join(part.capitalize() for part in name.split("-")),
        "shortDescription": {"text": sentence},
        "help": {"text": f"{sentence} `rocketdiff explain RUN SUBJECT SEND` shows the rule chain behind the example."},
        "defaultConfiguration": {"level": level},
        "properties": {"tags": ["rocketmq", "conformance"]},
    }
