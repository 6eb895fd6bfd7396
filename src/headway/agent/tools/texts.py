"""Files as text: UTF-8 or nothing, with the marks that an edit must keep."""

from headway.agent.tools.refusals import ToolError

_LOOKED_AT = 8192
_SIGNATURES = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\xff\xfe", "text in UTF-16"),
    (b"\xfe\xff", "text in UTF-16"),
)


def text_of(data: bytes, path: str) -> str:
    """Return a content as text; what is no text, or is written in another encoding, is refused in words."""
    if is_binary(data):
        known = next((words for signature, words in _SIGNATURES if data.startswith(signature)), "binary data")
        raise ToolError(f"`{path}` is {known} ({len(data):,} bytes), which cannot be handled as text.")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ToolError(
            f"`{path}` is not UTF-8 text (byte {error.start:,} does not fit). Convert it first, for example with "
            "`iconv`, or use a shell command."
        ) from error


def is_binary(data: bytes) -> bool:
    """Say whether a content is no text, as git does: a NUL near its beginning."""
    return b"\0" in data[:_LOOKED_AT] or data.startswith((b"\xff\xfe", b"\xfe\xff"))


def line_count(text: str) -> int:
    """Return how many lines there are, the last one counted with or without its end."""
    return text.count("\n") + (not text.endswith("\n") if text else 0)
