"""The docs say of every sandbox provider what its code declares."""

from __future__ import annotations

import re
from dataclasses import asdict, fields, replace
from pathlib import Path

from outlast_sandbox.interface import Capabilities
from outlast_sandbox.providers.deno.provider import DenoOptions
from outlast_sandbox.providers.docker.provider import DockerOptions
from outlast_sandbox.providers.e2b.provider import E2bOptions
from outlast_sandbox.providers.registry import BUILT_IN, open_provider
from outlast_sandbox.providers.setup import ProviderSetup

ROOT = Path(__file__).resolve().parents[2]
CONCEPTS = ROOT / "docs/concepts/sandboxes.md"
GUIDE = ROOT / "docs/guides/sandbox-providers.md"


def documented() -> dict[str, dict[str, bool]]:
    """Provider → capability → whether the table says yes."""
    lines = CONCEPTS.read_text().splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("| capability |"))
    providers = re.findall(r"`(\w+)`", lines[head])
    told: dict[str, dict[str, bool]] = {name: {} for name in providers}
    for line in lines[head + 2 :]:
        if not line.startswith("|"):
            break
        capability, _, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert set(cells) <= {"yes", "–"}, line
        for name, cell in zip(providers, cells, strict=True):
            told[name][capability] = cell == "yes"
    return told


def test_the_table_of_capabilities_is_that_of_the_code(tmp_path: Path) -> None:
    setup = ProviderSetup(state_dir=tmp_path, cache_dir=tmp_path, owner="node_1")
    declared = {name: open_provider(name, setup).capabilities for name in BUILT_IN}
    declared["local"] = replace(declared["local"], pause=True)  # where this machine has a freezer
    assert documented() == {name: asdict(found) for name, found in declared.items()}
    assert [*documented()["local"]] == [field.name for field in fields(Capabilities)]


def test_every_option_of_a_provider_is_in_the_guide() -> None:
    text = GUIDE.read_text()
    for name, kind in (("docker", DockerOptions), ("e2b", E2bOptions), ("deno", DenoOptions)):
        start = text.index(f"## {name}\n")
        section = text[start : text.index("\n## ", start + 1)]
        for field in fields(kind):
            assert f"`{field.name}`" in section, f"{name}: {field.name}"
