"""Environment and files for a sandbox's network access: its egress proxy and its trusted authorities."""

from pathlib import Path
from typing import Final

from .base_layer import BaseLayer
from .etc_files import AUTHORITY, ROOTS
from .inside.ports import EGRESS_PORT

PROXY: Final = f"http://127.0.0.1:{EGRESS_PORT}"
NO_PROXY: Final = "localhost,127.0.0.1,::1"
# Variables that replace the system's roots get all of them and ours; those that add to them get only ours, so that each
# start of Node and Deno reads fewer certificates.
_REPLACING: Final = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT")
_ADDING: Final = ("NODE_EXTRA_CA_CERTS", "DENO_CERT")


def proxy_environment() -> dict[str, str]:
    """Send every usual client to the listener, except for the sandbox's own servers."""
    names = {"HTTP_PROXY": PROXY, "HTTPS_PROXY": PROXY, "ALL_PROXY": PROXY, "NO_PROXY": NO_PROXY}
    lower = {name.lower(): value for name, value in names.items()}
    return {**names, **lower, "NODE_USE_ENV_PROXY": "1"}


def authority_environment() -> dict[str, str]:
    return {**dict.fromkeys(_REPLACING, ROOTS), **dict.fromkeys(_ADDING, AUTHORITY)}


def write_authorities(base: BaseLayer, authority_pem: str, folder: Path) -> list[tuple[Path, str]]:
    """Write two files into `folder` and return their places inside, each as (host path, path inside): the system's
    roots followed by ours, and ours alone."""
    ours = authority_pem.strip() + "\n"
    roots = base.roots.read_text().rstrip() + "\n"
    bundle, alone = folder / "roots.pem", folder / "authority.pem"
    bundle.write_text(roots.lstrip() + ours)
    alone.write_text(ours)
    for path in (bundle, alone):
        path.chmod(0o644)
    return [(bundle, ROOTS), (alone, AUTHORITY)]
