"""OpenAI Chat Completions and its many dialects."""

from headway.wire.base import Decoder, Wire
from headway.wire.decoding import StreamDecoder
from headway.wire.openai_chat.encoder import ChatEncoder
from headway.wire.openai_chat.follower import ChatFollower
from headway.wire.openai_chat.order import ChatOrder
from headway.wire.openai_chat.reply import parse_reply, render_reply
from headway.wire.openai_chat.request import parse_messages, parse_request, render_messages, render_request
from headway.wire.openai_chat.stream import ChatMeaning


def _decoder() -> Decoder:
    return StreamDecoder(ChatMeaning(), parse_reply)


WIRE = Wire(
    name="chat",
    path="/chat/completions",
    parse_request=parse_request,
    render_request=render_request,
    parse_messages=parse_messages,
    render_messages=render_messages,
    decoder=_decoder,
    encoder=ChatEncoder,
    follower=ChatFollower,
    order=ChatOrder,
    parse_reply=parse_reply,
    render_reply=render_reply,
)
