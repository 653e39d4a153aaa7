"""Sandboxes for flows that sleep and wake them; `provider` is each provider in turn."""

from tests.sandbox.conftest import (
    cache_dir,
    certificates,
    deno,
    deno_service,
    docker,
    e2b,
    e2b_service,
    gate,
    hosts,
    local,
    memory,
    podman,
    provider,
)

__all__ = [
    "cache_dir",
    "certificates",
    "deno",
    "deno_service",
    "docker",
    "e2b",
    "e2b_service",
    "gate",
    "hosts",
    "local",
    "memory",
    "podman",
    "provider",
]
