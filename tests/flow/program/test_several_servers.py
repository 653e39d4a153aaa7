"""Servers in processes of their own that share PostgreSQL and a bucket."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.request import urlopen

import pytest

from outlast.kernel.cli.exits import Exit
from tests.buckets import SECRET, BucketServer
from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast
from tests.forked import Forked

pytestmark = pytest.mark.postgres


def config_of(folder: Path, name: str, database: str, blobs: str, provider: str = "none") -> Path:
    file = folder / f"{name}.toml"
    text = CONFIG.format(folder=folder / name).replace('provider = "none"', f'provider = "{provider}"')
    file.write_text(
        f'{text}[database]\nurl = "{database}"\n[blobs]\nurl = "{blobs}"\n[runs]\nlease_s = 9\nheartbeat_s = 3\n'
    )
    return file


def refused(config: Path) -> str:
    """What a server says that does not start."""
    log = config.with_suffix(".refused.log")
    log.write_text("")
    with Forked(["serve", "--config", str(config)], log, module="tests.lag") as process:
        assert process.wait(120) == Exit.REFUSED_TO_START
    return log.read_text()


def test_a_file_that_one_server_stored_is_read_through_the_other_and_named_in_the_backup(
    tmp_path: Path, postgres_url: str, bucket_url: str, bucket_server: BucketServer
) -> None:
    one, other = (config_of(tmp_path, name, postgres_url, bucket_url) for name in ("one", "other"))
    (tmp_path / "report.txt").write_text("all is well")
    with served(one) as first, served(other) as second:
        added = outlast("files", "add", str(tmp_path / "report.txt"), url=first)
        assert added.returncode == Exit.OK, added.stderr
        file_id = added.stdout.split()[0]
        got = outlast("files", "download", file_id, str(tmp_path / "copy.txt"), url=second)
        assert got.returncode == Exit.OK, got.stderr
        assert (tmp_path / "copy.txt").read_text() == "all is well"
        assert bucket_server.count("GET", "some/prefix") > 0
        with urlopen(f"{first}/readyz?verbose", timeout=30) as answer:
            nodes = json.load(answer)["nodes"]
        assert [(node["kind"], node["lives"]) for node in nodes] == [("server", True)] * 2
        told = outlast("doctor", "--config", str(one))
        assert told.stdout.count("lives") == 2, told.stdout
        assert SECRET not in told.stdout + told.stderr
        taken = outlast("backup", str(tmp_path / "backup"), "--config", str(one))
        assert taken.returncode == Exit.OK, taken.stderr
        assert "they stay in s3://bucket-" in taken.stderr
        assert SECRET not in taken.stdout + taken.stderr
        assert not (tmp_path / "backup" / "blobs").exists()
        assert SECRET not in (tmp_path / "backup" / "manifest.json").read_text()
        assert "No problems" in outlast("verify", "--config", str(one)).stdout
    assert "No problems" in outlast("verify", str(tmp_path / "backup")).stdout


def test_a_server_that_does_not_fit_is_refused_and_says_what_to_do(
    tmp_path: Path, postgres_url: str, bucket_url: str
) -> None:
    one = config_of(tmp_path, "one", postgres_url, bucket_url)
    with served(one):
        said = refused(config_of(tmp_path, "other", postgres_url, "blobs"))
        assert "node_refused" in said
        assert "Give both the same blobs.url" in " ".join(said.split())
    # The first has stopped cleanly, so it is in no one's way.
    with served(config_of(tmp_path, "other", postgres_url, "blobs")):
        pass


def test_a_bucket_that_is_not_there_stops_the_start_with_its_name_and_without_the_secret(
    tmp_path: Path, bucket_url: str
) -> None:
    config = config_of(tmp_path, "one", "sqlite:///outlast.db", bucket_url.replace("@bucket-", "@missing-"))
    said = refused(config)
    assert "s3://missing-" in said
    assert "Traceback" not in said
    assert SECRET not in said
