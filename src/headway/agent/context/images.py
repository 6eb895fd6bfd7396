"""Pictures: known by their first bytes and not by their names, and bounded by what every provider takes."""

from base64 import b64encode

from headway.agent.tools.refusals import ToolError
from headway.messages import Image

MOST_BYTES = 3_750_000
"""In base64 that is five megabytes, more than which some providers refuse."""
_RIFF = b"RIFF"
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def media_type_of(data: bytes) -> str | None:
    """Return what kind of picture a content is; None if it is none that models take."""
    if data.startswith(_RIFF) and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for signature, kind in _SIGNATURES if data.startswith(signature)), None)


def image_of(data: bytes, path: str) -> Image | None:
    """Return a content as a picture; None if it is none. One that is too large is refused in words."""
    media_type = media_type_of(data)
    if media_type is None:
        return None
    if len(data) > MOST_BYTES:
        raise ToolError(
            f"`{path}` is a picture of {len(data):,} bytes; models take no more than {MOST_BYTES:,}. Make it smaller."
        )
    return Image(media_type, b64encode(data).decode("ascii"))
