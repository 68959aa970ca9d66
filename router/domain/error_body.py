"""The engine's own words from an error body."""


def error_message(body: object, *, limit: int = 200) -> str:
    """In whichever of its three shapes; only the first line, cut short.

    The lines after it may repeat what was sent, and prompts stay out of errors.
    """
    error = body.get("error", body.get("detail")) if isinstance(body, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    lines = message.splitlines() if isinstance(message, str) else []
    return lines[0][:limit] if lines else "no message"
