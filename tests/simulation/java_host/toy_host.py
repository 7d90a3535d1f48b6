"""A simulation host without Java; the script's name decides what it does."""

import json
import sys
import time
from typing import Any


def write_answer(data: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(data, ensure_ascii=False) + "\n")


def compute(seconds: float) -> None:
    """Use so much CPU time, pausing 0.1 s after each 0.02 s."""
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
                write_answer({"script": run["name"], "step": number, "padding": "x" * 100})
        case "told":
            write_answer({"releases": releases, "run": {key: value for key, value in run.items() if key != "script"}})
        case "error":
            write_answer({"script": run["name"], "step": 0, "dump": {}})
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
    write_answer(end)


def main() -> None:
    """Answer until the end of input."""
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
