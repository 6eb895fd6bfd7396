"""The OpenAI Responses wire: `POST /responses`, its input items, its event stream and its Response objects."""

from headway.wire.base import Wire
from headway.wire.openai_responses.decoder import ResponsesDecoder, reattach
from headway.wire.openai_responses.encoder import ResponsesEncoder
from headway.wire.openai_responses.follower import ResponsesFollower
from headway.wire.openai_responses.order import ResponseOrder
from headway.wire.openai_responses.parts import WIRE_NAME
from headway.wire.openai_responses.reply import parse_reply, render_reply
from headway.wire.openai_responses.request import parse_messages, parse_request, render_messages, render_request

__all__ = ["WIRE", "ResponsesDecoder", "ResponsesEncoder"]

WIRE = Wire(
    name=WIRE_NAME,
    path="/responses",
    parse_request=parse_request,
    render_request=render_request,
    parse_messages=parse_messages,
    render_messages=render_messages,
    decoder=ResponsesDecoder,
    encoder=ResponsesEncoder,
    follower=ResponsesFollower,
    order=ResponseOrder,
    parse_reply=parse_reply,
    render_reply=render_reply,
    reattach=reattach,
)
