"""The `/etc` of every sandbox: files copied from the host, files written here, and no secrets."""

import os
import shutil
import ssl
from pathlib import Path
from typing import Final

USER: Final = "user"
USER_ID: Final = 1000
HOME: Final = "/home/user"
ROOTS: Final = "/etc/ssl/certs/ca-certificates.crt"
AUTHORITY: Final = "/etc/outlast/authority.pem"
COPIED_FROM_ETC: Final = (
    "alternatives",
    "ca-certificates",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "magic",
    "mime.types",
    "os-release",
    "pki/ca-trust",
    "pki/tls/certs",
    "protocols",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
)
WRITTEN_TO_ETC: Final = {
    "passwd": f"root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n{USER}:x:{USER_ID}:{USER_ID}::{HOME}:/bin/bash\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "group": f"root:x:0:\n{USER}:x:{USER_ID}:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "hostname": "sandbox\n",
    "resolv.conf": "# There is no network in this sandbox.\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "gitconfig": "[safe]\n\tdirectory = *\n[init]\n\tdefaultBranch = main\n",
}


def build_etc(etc: Path) -> None:
    """Create the folder. Blocks."""
    etc.mkdir()
    for name in COPIED_FROM_ETC:
        source = Path("/etc") / name
        target = etc / name
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, ignore_dangling_symlinks=True, dirs_exist_ok=True)
        elif source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    for name, text in WRITTEN_TO_ETC.items():
        (etc / name).write_text(text)
    (etc / "mtab").symlink_to("/proc/self/mounts")
    _place_authorities(etc)


def _place_authorities(etc: Path) -> None:
    """A plain file each, so that a sandbox's own can be mounted over it: a mount can neither create a file nor replace
    a link."""
    bundle = etc.parent / ROOTS.lstrip("/")
    known = ROOTS if os.path.exists(ROOTS) else ssl.get_default_verify_paths().cafile
    text = Path(known).read_bytes() if known else b""
    bundle.unlink(missing_ok=True)
    bundle.parent.mkdir(parents=True, exist_ok=True)
    bundle.write_bytes(text)
    authority = etc.parent / AUTHORITY.lstrip("/")
    authority.parent.mkdir()
    authority.touch()
