"""Bytes to a provider and back: sockets, clocks, limits, and the watchdog over a stream. It knows HTTP and no wire."""

from headway.transport.clock import VirtualLoop, run_virtual, sleep
from headway.transport.errors import Cause, Phase, Stalled, TransportFailed, facts_of
from headway.transport.gaps import GapMemory, Gaps
from headway.transport.http import HttpClient
from headway.transport.limits import Limits, Overrides, Patience, RequestFacts, Stall, effective
from headway.transport.message import Headers, HttpRequest
from headway.transport.response import Response
from headway.transport.tls import Trust, trust_from
from headway.transport.watchdog import Quiet, Stage, Watchdog

__all__ = [
    "Cause",
    "GapMemory",
    "Gaps",
    "Headers",
    "HttpClient",
    "HttpRequest",
    "Limits",
    "Overrides",
    "Patience",
    "Phase",
    "Quiet",
    "RequestFacts",
    "Response",
    "Stage",
    "Stall",
    "Stalled",
    "TransportFailed",
    "Trust",
    "VirtualLoop",
    "Watchdog",
    "effective",
    "facts_of",
    "run_virtual",
    "sleep",
    "trust_from",
]
