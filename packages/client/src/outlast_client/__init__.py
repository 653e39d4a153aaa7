"""Python client for Outlast.

`Client` blocks, `AsyncClient` does not; both have the same methods, in groups by noun, generated from the server's
contract. Responses are plain dictionaries with the types of `outlast_client.shapes`. Refusals are raised as exceptions
whose class says what to do next (`outlast_client.errors`).
"""

from outlast_client.async_client import AsyncClient
from outlast_client.client import Client
from outlast_client.errors import (
    Conflict,
    CreditsNeeded,
    Gone,
    InternalError,
    InvalidRequest,
    OutlastError,
    PermissionNeeded,
    ProviderRefused,
    TryLater,
    Unreachable,
)
from outlast_client.retries import Retries

__all__ = [
    "AsyncClient",
    "Client",
    "Conflict",
    "CreditsNeeded",
    "Gone",
    "InternalError",
    "InvalidRequest",
    "OutlastError",
    "PermissionNeeded",
    "ProviderRefused",
    "Retries",
    "TryLater",
    "Unreachable",
]
