"""A simulation host that keeps to the protocol without any Java: what it does with a script is told by the script's name."""

import json
import sys
import time
from typing import Any


def say(data: dict[str, Any]) -> None:
    """One line, as json.dumps writes it."""
    sys.stdout.write(json.dumps(data, ensure_ascii=False) + "\n")


def compute(seconds: float) -> None:
    """So much processor time, of which the machine gives little: a fiftieth of a second, then nothing for a tenth."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        given = time.process_time() + 0.02
        while time.process_time() < given:
            pass
        time.sleep(0.1)


def answer(run: dict[str, Any], releases: dict[str, list[str]]) -> None:
    """The lines of one run."""
    kind, _, argument = run["name"].partition(":")
    end: dict[str, Any] = {"end": run["id"], "virtual_ms": 5}
    match kind:
        case "lines":
            for number in range(int(argument)):
                say({"script": run["name"], "step": number, "padding": "x" * 100})
        case "told":
            say({"releases": releases, "run": {key: value for key, value in run.items() if key != "script"}})
        case "error":
            say({"script": run["name"], "step": 0, "dump": {}})
            end = {"end": run["id"], "error": {"kind": argument, "message": f"what is wrong: {argument}"}}
        case "silent":
            sys.stdout.flush()
            time.sleep(60)
        case "computes":
            compute(float(argument))
        case "dies":
            sys.stderr.write("java.lang.OutOfMemoryError: Java heap space\n")
            sys.stderr.flush()
            sys.exit(3)
        case "wrong-end":
            end["end"] = -1
    say(end)


def main() -> None:
    """Answer until the end of the input."""
    releases: dict[str, list[str]] = {}
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "release":
            releases[message["release"]] = message["class_path"]
        else:
            answer(message, releases)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
