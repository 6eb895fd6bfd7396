"""Whom to trust. Settings and environment decide it as values; this module makes a context of them."""

import ssl
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from headway.failure import InvalidInput


class Trust(Struct, frozen=True):
    """Which certificates to accept; by default those that the system trusts."""

    ca_file: str = ""
    """Instead of the system's."""
    ca_directory: str = ""
    """Instead of the system's, hashed as OpenSSL does."""
    extra_ca_file: str = ""
    """Besides the others."""
    insecure: bool = False
    """Accept anybody. For a lab; never a default."""


def trust_from(environment: Mapping[str, str]) -> Trust:
    """Read the variables that other tools of this kind read."""
    bundle = environment.get("REQUESTS_CA_BUNDLE", "")
    bundle_is_directory = bool(bundle) and Path(bundle).is_dir()
    return Trust(
        ca_file=environment.get("SSL_CERT_FILE", "") or ("" if bundle_is_directory else bundle),
        ca_directory=environment.get("SSL_CERT_DIR", "") or (bundle if bundle_is_directory else ""),
        extra_ca_file=environment.get("NODE_EXTRA_CA_CERTS", ""),
    )


def client_context(trust: Trust) -> ssl.SSLContext:
    """Make a context for clients; raises `InvalidInput` for a file that holds no certificates."""
    try:
        context = ssl.create_default_context(cafile=trust.ca_file or None, capath=trust.ca_directory or None)
    except (OSError, ValueError) as exc:
        raise _unreadable(trust.ca_file or trust.ca_directory, exc) from None
    if trust.extra_ca_file:
        try:
            context.load_verify_locations(cafile=trust.extra_ca_file)
        except (OSError, ValueError) as exc:
            raise _unreadable(trust.extra_ca_file, exc) from None
    if trust.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1"])
    return context


def _unreadable(path: str, error: Exception) -> InvalidInput:
    return InvalidInput(f"the certificates in {path}", str(error), "Name a PEM file with at least one certificate.")
