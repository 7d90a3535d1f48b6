"""Why a download failed, in one line."""


def reason_of(error: Exception) -> str:
    """
    Return the reason of the last try, without the layers that the web client and its user put around it.

    `Failed to resolve 'repo…'` comes at their end, where a cut message would lose it.
    """
    inner = error.__cause__ or error
    reason = getattr(inner.args[0] if inner.args else None, "reason", None) or error
    return " ".join(str(reason).split())[:300]
