"""The files in `deploy/` are what their programs accept, and what the guides show of them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from outlast.kernel.settings.load import environment_name, load_settings, scalar_settings
from tests.crash.balancer import AROUND, NGINX

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
UNITS = ("outlast.service", "outlast-worker@.service")
CADDY = shutil.which("caddy")
SYSTEMD = shutil.which("systemd-analyze")
OF_OUTLAST = ("server-a", "server-b", "worker")
ONE_SHOT = ("bucket",)
SECRET_NAME = re.compile(r"PASSWORD|SECRET|TOKEN|_KEY", re.IGNORECASE)
FILLED_IN = re.compile(r"\$\{[A-Z0-9_]+(?::[?-][^}]*)?\}")


def read(name: str) -> str:
    return (DEPLOY / name).read_text()


def test_every_file_is_named_in_the_folders_readme() -> None:
    files = {path.name for path in DEPLOY.iterdir()} - {"README.md"}
    assert {name for name in files if f"`{name}`" not in read("README.md")} == set()


# --- what the guides show


@pytest.mark.parametrize("page", ["deploy", "upgrade", "run-on-postgresql"])
def test_guides_show_the_files_as_they_are(page: str) -> None:
    text = (ROOT / "docs" / "guides" / f"{page}.md").read_text()
    shown = re.findall(r'^```\w+ title="deploy/([^"]+)"\n(.*?)^```', text, re.MULTILINE | re.DOTALL)
    assert shown or page != "deploy"
    for name, excerpt in shown:
        for piece in excerpt.split("…\n"):
            assert piece in read(name), f"{page} shows another {name}:\n{piece}"


# --- systemd


@pytest.mark.skipif(SYSTEMD is None, reason="needs systemd-analyze, of Debian's systemd")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    assert SYSTEMD is not None
    for name in UNITS:  # its program is not installed here
        (tmp_path / name).write_text(read(name).replace("/opt/outlast/.venv/bin/outlast", "/bin/true"))
    files = [str(tmp_path / name) for name in UNITS]
    found = subprocess.run([SYSTEMD, "verify", *files], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr.strip()) == (0, "")


@pytest.mark.parametrize("name", UNITS)
def test_units_let_sandboxes_outlive_the_server_and_give_it_time_to_stop(name: str) -> None:
    options = dict(re.findall(r"^(\w+)=(.*)$", read(name), re.MULTILINE))
    assert (options["KillMode"], options["Restart"], options["User"]) == ("process", "always", "outlast")
    settings = load_settings(None, environ={}).server
    assert int(options["TimeoutStopSec"]) >= settings.drain_s + settings.stop_grace_s + 5
    command = options["ExecStart"].split()
    assert command[1] == ("worker" if "worker" in name else "serve")


# --- balancers


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a certificate under the names that the files use."""
    folder = tmp_path_factory.mktemp("certificates")
    make = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=test -days 1 -keyout privkey.pem -out fullchain.pem"
    subprocess.run(make.split(), cwd=folder, check=True, capture_output=True)
    return folder


def with_certificate(text: str, folder: Path) -> str:
    return re.sub(r"/etc/ssl/outlast(-previews)?", str(folder), text)


@pytest.mark.skipif(NGINX is None, reason="needs nginx, of Debian's nginx-light")
def test_nginx_accepts_its_file(tmp_path: Path, certificate: Path) -> None:
    assert NGINX is not None
    sites = with_certificate(read("nginx.conf"), certificate)
    config = tmp_path / "nginx.conf"
    config.write_text(AROUND.format(user="", folder=tmp_path, sites=sites))
    found = subprocess.run([NGINX, "-t", "-p", tmp_path, "-c", config], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert "[warn]" not in found.stderr


def test_nginx_holds_no_stream_back_upgrades_websockets_and_repeats_nothing_that_may_have_had_an_effect() -> None:
    locations = re.findall(r"location / \{\n(.*?)\n    \}", read("nginx.conf"), re.DOTALL)
    assert len(locations) == 2
    for location in locations:
        for line in (
            "proxy_buffering off;",
            "proxy_read_timeout 1h;",
            "proxy_set_header Host $host;",
            "proxy_set_header Upgrade $http_upgrade;",
            "proxy_next_upstream error timeout;",
        ):
            assert line in location
        assert "non_idempotent" not in location
    assert not re.search(r"^\s*keepalive", read("nginx.conf"), re.MULTILINE)


@pytest.mark.skipif(CADDY is None, reason="needs caddy, of Debian's caddy")
def test_caddy_accepts_its_file(tmp_path: Path, certificate: Path) -> None:
    assert CADDY is not None
    config = tmp_path / "Caddyfile"
    config.write_text(with_certificate(read("Caddyfile"), certificate))
    words = [CADDY, "validate", "--adapter", "caddyfile", "--config", str(config)]
    home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    found = subprocess.run(words, capture_output=True, text=True, check=False, env=home)
    assert found.returncode == 0, found.stderr


# --- containers


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(read("compose.yaml"))
    return loaded


def test_compose_runs_what_a_deployment_needs(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) == {*OF_OUTLAST, *ONE_SHOT, "caddy", "postgres", "redis", "s3"}
    assert [services[name]["command"][0] for name in OF_OUTLAST] == ["serve", "serve", "worker"]
    for name, service in services.items():
        assert service["image"], name
        assert name in ONE_SHOT or service["restart"] == "unless-stopped", name
        # The image of servers has a health check of its own.
        assert name in (*OF_OUTLAST, *ONE_SHOT) or service["healthcheck"]["test"][0] == "CMD", name
    assert "HEALTHCHECK" in read("Containerfile")
    published = [name for name, service in services.items() if service.get("ports")]
    assert published == ["caddy"]


def test_compose_keeps_data_in_volumes_of_its_own(compose: dict[str, Any]) -> None:
    used = {
        volume.split(":")[0]: name
        for name, service in compose["services"].items()
        for volume in service.get("volumes", ())
        if not volume.startswith(".")
    }
    assert set(used) == set(compose["volumes"])
    assert {name for volume, name in used.items() if volume in OF_OUTLAST} == set(OF_OUTLAST), "one data directory each"
    mounted = [volume.split(":")[0] for one in compose["services"].values() for volume in one.get("volumes", ())]
    files = {path for path in mounted if path.startswith("./")} - {"./certificates"}
    assert all((DEPLOY / path).is_file() for path in files)


def test_compose_has_no_secret_in_it_and_the_example_of_the_environment_none_either(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        for variable, value in service.get("environment", {}).items():
            if SECRET_NAME.search(variable):
                assert FILLED_IN.fullmatch(value), f"{name}: {variable}"
            for password in re.findall(r"://[^:/@]+:([^@]+)@", value):
                assert FILLED_IN.fullmatch(password), f"{name}: {variable}"
    named = set(re.findall(r"\$\{([A-Z0-9_]+)", read("compose.yaml"))) - {"OUTLAST_IMAGE"}
    example = dict(re.findall(r"^([A-Z0-9_]+)=(.*)$", read("example.env"), re.MULTILINE))
    assert named <= set(example)
    assert {name for name in example if SECRET_NAME.search(name) and name != "S3_ACCESS_KEY" and example[name]} == set()
    assert "deploy/.env" in (ROOT / ".gitignore").read_text()


def test_compose_sets_only_settings_that_there_are(compose: dict[str, Any]) -> None:
    known = {environment_name(path) for path, _, _ in scalar_settings()} | {"OUTLAST_SECRET_KEY"}
    environment = compose["services"]["server-a"]["environment"]
    assert {name for name in environment if name.startswith("OUTLAST_")} - known == set()
    settings = load_settings(DEPLOY / "outlast.toml", environ={"OUTLAST_SERVER_DRAIN_S": "5"})
    grace = compose["services"]["server-a"]["stop_grace_period"]
    assert int(grace.removesuffix("s")) >= settings.server.drain_s + settings.server.stop_grace_s + 5


def test_the_image_runs_as_an_ordinary_user_and_is_built_from_what_is_here() -> None:
    text = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", read("Containerfile"), flags=re.MULTILINE))
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]
    stages = [index for index, (word, _) in enumerate(lines) if word == "FROM"]
    assert len(stages) == 2
    assert all(re.match(r"docker\.io/library/python:3\.\d+-slim-\w+", lines[index][1]) for index in stages)
    last = dict(lines[stages[1] :])
    assert last["USER"] not in ("root", "0")
    assert last["ENTRYPOINT"] == '["outlast"]'
    assert last["CMD"] == '["serve"]'
    assert {"HEALTHCHECK", "EXPOSE", "VOLUME"} <= set(last)
    assert not [value for word, value in lines if word in ("ENV", "ARG") and SECRET_NAME.search(value)]
    assert not [value for word, value in lines if word == "ADD"]
    for value in (value for word, value in lines if word == "RUN" and "apt-get install" in value):
        assert "--no-install-recommends" in value
        assert "rm -rf /var/lib/apt/lists/*" in value
    for name in ("requirements.lock", "packages/sandbox", "Makefile"):
        assert (ROOT / name).exists()
    assert "outlast[" not in text
