"""The Anthropic Messages wire: requests, streams and whole replies, in both directions."""

from headway.wire.anthropic.blocks import NAME
from headway.wire.anthropic.decoder import MessageFrames
from headway.wire.anthropic.encoder import MessageEncoder
from headway.wire.anthropic.follower import MessageFollower
from headway.wire.anthropic.order import MessageOrder
from headway.wire.anthropic.reply import parse_reply, render_reply
from headway.wire.anthropic.request import parse_messages, parse_request, render_messages, render_request
from headway.wire.base import Wire
from headway.wire.decoding import StreamDecoder

WIRE = Wire(
    name=NAME,
    path="/messages",
    parse_request=parse_request,
    render_request=render_request,
    parse_messages=parse_messages,
    render_messages=render_messages,
    decoder=lambda: StreamDecoder(MessageFrames(), parse_reply),
    encoder=MessageEncoder,
    follower=MessageFollower,
    order=MessageOrder,
    parse_reply=parse_reply,
    render_reply=render_reply,
)

__all__ = ["WIRE"]
