"""Images and documents: which of them an endpoint can take."""

from headway.dialect import Dialect
from headway.messages import Document, Image


def is_sendable(media: Image | Document, dialect: Dialect) -> bool:
    """Say whether an endpoint takes this kind, and whether there is something to send.

    A provider's own file id means nothing to another: it goes only to the wire that it was read on.
    """
    if isinstance(media, Image):
        accepted, content = dialect.images, media.data or media.url
    else:
        accepted, content = dialect.documents, media.data or media.url or media.text
    at_home = media.raw is None or media.raw.wire == dialect.wire
    return accepted and bool(content or (media.file_id and at_home))
