"""Characters that no provider, or not this one, takes in a text: lone surrogates, NUL."""

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def is_clean(text: str, refused: str) -> bool:
    """Say whether a text holds no refused character and no lone surrogate. Fast: nearly all texts are clean."""
    for character in refused:
        if character in text:
            return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def clean(text: str, refused: str) -> str:
    """Return the text with what is refused replaced, or the very same text."""
    if is_clean(text, refused):
        return text
    return "".join(REPLACEMENT if one in refused or "\ud800" <= one <= "\udfff" else one for one in text)
