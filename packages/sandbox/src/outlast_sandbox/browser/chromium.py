"""Chromium on this machine: its path, and its command line inside a sandbox."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# These names often lead to a script that reads settings a sandbox does not see; these are the binaries that it would
# start.
BINARIES: Final = (
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
)
SEEN_INSIDE: Final = ("/usr/", "/bin/", "/lib/", "/lib64/")  # every sandbox sees these folders of the system
# The process is also ended from within, in case the server is killed and not restarted.
LONGEST_S: Final = 600
START: Final = 'exec timeout --signal=KILL "$0" "$@" 3<&0 4>&1 1>&2'
DISABLED: Final = (
    "Translate",
    "OptimizationHints",
    "MediaRouter",
    "AutofillServerCommunication",
    "NetworkTimeServiceQuerying",
    # The lists below the address bar are pages too, loaded with each window and never seen: half of its work.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
)
FLAGS: Final = (
    "--headless",
    "--remote-debugging-pipe",
    "--user-data-dir=/tmp/profile",
    "--no-sandbox",  # it already runs in one; a second one inside would need privileges that no process in there has
    "--no-zygote",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    f"--disable-features={','.join(DISABLED)}",
    "--component-updater=url-source=http://127.0.0.1:9/",  # it would also ask for updates of what it does not have
    "--enable-unsafe-swiftshader",  # pages that draw with WebGL do so without a graphics card
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
)


def find_browser(setting: str = "") -> Path | None:
    """Chromium's program file: the one that the setting names, else one on this machine, or None if there is none."""
    named = (setting,) if setting else NAMES
    for name in named:
        path = shutil.which(name)
        if path is not None:
            return _binary(Path(path).resolve())
    return None


def _binary(found: Path) -> Path:
    """The program that a known starting script would run."""
    with found.open("rb") as file:
        if file.read(2) != b"#!":
            return found
    beside = found.parent
    for candidate in BINARIES:
        known = Path(candidate)
        if known.is_file() and (known.parent == beside or found.is_relative_to("/usr")):
            return known
    return found


def folder_to_show(program: Path) -> Path | None:
    """The folder that must be mounted into a sandbox besides the system's, or None if the program is visible anyway."""
    return None if str(program).startswith(SEEN_INSIDE) else program.parent


def start_command(program: Path, network: Sequence[str], longest_s: float = LONGEST_S) -> tuple[str, ...]:
    """The command line inside; `network` are the flags for the way out, from one of the functions below."""
    words = (f"{longest_s:.0f}", str(program), *FLAGS, *network, "about:blank")
    return ("/bin/sh", "-c", START, *words)


def one_port(port: int, way_out: int) -> tuple[str, ...]:
    """No host name resolves except `localhost` with this port, which maps to the sandbox's egress listener."""
    rules = f"MAP localhost:{port} 127.0.0.1:{way_out}, MAP * ~NOTFOUND"
    return ("--no-proxy-server", f"--host-resolver-rules={rules}")


def through_proxy(way_out: int) -> tuple[str, ...]:
    """Every connection, also to loopback addresses, goes to the proxy on the sandbox's egress listener, which resolves
    the names."""
    return (
        f"--proxy-server=http://127.0.0.1:{way_out}",
        "--proxy-bypass-list=<-loopback>",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    )
