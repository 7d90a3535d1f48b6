"""The rules of a SARIF log: one a family of signatures, in a sentence for whoever meets the alert first."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from rocketdiff.core.checks import CHECKS
from rocketdiff.report.signature_words import rule_title

STALE_RULE = "stale-ledger-entry"

SENTENCES = {name: check.sentence for name, check in CHECKS.items()} | {
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
