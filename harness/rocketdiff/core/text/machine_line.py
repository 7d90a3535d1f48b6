"""Lines for programs, the last of a command's output: ``WORD key=value …``, with blanks only between its parts."""


def machine_line(*words: str, **values: object) -> str:
    """
    Return the line. Blanks in a value become underscores, in a key dashes; a missing or empty value is ``-``.

    words: the command's word, and an answer that comes before every value.
    """
    pairs = (f"{'-'.join(key.split())}={_value(value)}" for key, value in values.items())
    return " ".join((*words, *pairs))


def _value(value: object) -> str:
    return ("" if value is None else "_".join(str(value).split())) or "-"
