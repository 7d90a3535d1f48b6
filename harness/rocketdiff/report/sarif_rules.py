"""The rules of a SARIF log: one a family of signatures, in a sentence for whoever meets the alert first."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from rocketdiff.report.signature_words import rule_title

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


def rule_id(check: str, signature: str) -> str:
    """``queue-choice/queue.out-of-turn``: the check, and the signature without where it was seen and what exactly."""
    rest = signature.removeprefix("rules/")
    return f"{check}/{'' if rest == signature else 'rules/'}{rest.partition('/')[0]}"


def rules_of(results: Iterable[dict[str, Any]], help_uris: Mapping[str, str]) -> list[dict[str, Any]]:
    """
    A rule for each family that has a result, checks in the order of the table above; its level is its gravest result's.

    help_uris: by rule, where more is known about it.
    """
    grave = ("none", "note", "warning", "error")
    levels: dict[str, str] = {}
    for result in results:
        known = levels.get(result["ruleId"], "none")
        levels[result["ruleId"]] = max(known, result["level"], key=grave.index)
    order = list(SENTENCES)
    ranked = sorted(levels, key=lambda name: (order.index(_check(name)) if _check(name) in order else len(order), name))
    return [_rule(name, levels[name], help_uris.get(name)) for name in ranked]


def _check(rule: str) -> str:
    return rule.partition("/")[0]


def _rule(name: str, level: str, help_uri: str | None) -> dict[str, Any]:
    check, _, signature = name.partition("/")
    sentence = SENTENCES.get(check, f"The question {check} of a rocketdiff scenario.")
    title = rule_title(signature)
    shown = title[:1].upper() + title[1:] + "." if title else sentence
    rule: dict[str, Any] = {
        "id": name,
        "name": "".join(part.capitalize() for part in re.split("[^A-Za-z0-9]+", name)),
        "shortDescription": {"text": shown},
        "fullDescription": {"text": sentence},
        "help": {"text": f"{sentence} `rocketdiff explain RUN SUBJECT SEND` shows the rule chain behind the example."},
        "defaultConfiguration": {"level": level},
        "properties": {"tags": ["rocketmq", "conformance"]},
    }
    return rule | ({"helpUri": help_uri} if help_uri else {})
