"""
The matrix file, version 1: its format, its JSON Schema and its reader.

``python -m rocketdiff.matrix.file_format > fixtures/schema/matrix-file-1.json`` writes the published schema; a test compares
it. It is a campaign file with one setting (``campaign/file_format.py``).
"""

import sys
from pathlib import Path

from rocketdiff.campaign.file_format import (
    FIELDS,
    FORMAT,
    WORDS,
    SubjectsFile,
    plan_of,
    setting_of,
)
from rocketdiff.campaign.plan import CampaignPlan
from rocketdiff.documents.part import published_schema
from rocketdiff.documents.refusal import read_part, require_format
from rocketdiff.documents.yaml_source import parse_yaml, read_text


class MatrixFile(SubjectsFile):
    """
    One matrix.

    suites, scenarios: what to run, scenarios as globs of their names; suite quick if neither is given. Each seed gets one run
    per suite, and one run of all globs together. ledgers: files of declared divergences in addition to the shipped ones.
    """


def schema() -> bytes:
    """Return the JSON Schema of matrix files of this version."""
    return published_schema(MatrixFile, f"matrix-file:{FORMAT}").encode()


def read(path: Path) -> CampaignPlan:
    """
    Read and check one matrix file without starting anything. UsageError names the file, the line and what was expected there.
    """
    source = parse_yaml(read_text(path, "matrix file"), str(path))
    require_format(source.data, source.place, FORMAT, what="matrix file", holds=FIELDS)
    file = read_part(MatrixFile, source.data, source.place, WORDS)
    return plan_of(file, path, source.place, [setting_of(file)], f"RocketMQ clients against {file.baseline}")


if __name__ == "__main__":
    sys.stdout.buffer.write(schema())
