"""Entries are removed by lines; everything else stays as written."""

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.ledger.pruning import without

TEXT = """\
# about this file
schemaVersion: "1.0"
entries:
  # about the first
  # on two lines
  - id: first
    reason: >-
      folded over
      two lines

  # about the second
  - id: second
    when: {client: java,
           version: "1"}  # a remark

  - {id: third, ref: x}
"""


def test_an_entry_goes_with_the_comments_above_it_and_the_blank_lines_after_it() -> None:
    """An entry is removed with the comments above it and the blank lines after it."""
    assert without(TEXT, "x", {"first"}) == TEXT.replace(
        TEXT[TEXT.index("  # about the f") : TEXT.index("  # about the s")], ""
    )


def test_entries_in_block_style_and_on_one_line_are_removed() -> None:
    """Entries in block style and on a single line can be removed."""
    assert without(TEXT, "x", {"second", "third"}) == TEXT[: TEXT.index("  # about the second")]


def test_the_last_entry_leaves_an_empty_list() -> None:
    """Without entries an empty list is left; a key without value would be refused."""
    left = without(TEXT, "x", {"first", "second", "third"})
    assert left == '# about this file\nschemaVersion: "1.0"\nentries: []\n'


def test_ids_that_are_not_there_change_nothing() -> None:
    """Unknown ids change nothing."""
    assert without(TEXT, "x", {"other"}) == TEXT
    assert without("a: 1\n", "x", {"other"}) == "a: 1\n"


def test_a_list_on_one_line_is_refused() -> None:
    """A list on one line is refused, because entries are removed by lines."""
    with pytest.raises(UsageError, match="one entry per line"):
        without("entries: [{id: a}]\n", "x", {"a"})
