"""Which Host and Origin headers are ours."""

import pytest

from outlast.kernel.http.allowed_hosts import is_loopback, known_hosts

LOCAL = known_hosts("127.0.0.1", "", ())
PUBLIC = known_hosts("0.0.0.0", "https://outlast.example.org", ("chat.internal:8400",))


@pytest.mark.parametrize("host", ["localhost:8400", "127.0.0.1:8400", "[::1]:8400", "LOCALHOST", "localhost:9999"])
def test_a_local_server_knows_the_names_of_this_machine(host):
    assert LOCAL.knows(host)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example:8400", "localhost.evil.example", "", "192.168.1.5:8400", "[::2]:8400"],
)
def test_a_rebound_name_is_not_known(host):
    assert not LOCAL.knows(host)


@pytest.mark.parametrize("host", ["outlast.example.org", "chat.internal:8400", "localhost:8400"])
def test_a_public_server_knows_its_address_and_the_allowed_ones(host):
    assert PUBLIC.knows(host)


def test_a_public_server_with_an_address_knows_no_other():
    assert not PUBLIC.knows("10.0.0.7:8400")


def test_a_server_opened_to_a_network_without_a_name_is_guarded_by_tokens_alone():
    assert known_hosts("0.0.0.0", "", ()).knows("10.0.0.7:8400")


@pytest.mark.parametrize(
    ("origin", "host", "own"),
    [
        ("http://localhost:8400", "localhost:8400", True),
        ("http://127.0.0.1:8400", "localhost:8400", False),
        ("http://localhost:3000", "localhost:8400", False),
        ("http://3000-sbx.preview.localhost:8400", "localhost:8400", False),
        ("https://evil.example", "localhost:8400", False),
        ("null", "localhost:8400", False),
        ("file://", "localhost:8400", False),
        ("", "localhost:8400", False),
    ],
)
def test_only_the_page_reached_under_the_same_host_is_our_own(origin, host, own):
    assert LOCAL.is_own_origin(origin, host) is own


def test_the_public_address_is_an_own_origin_behind_a_proxy():
    assert PUBLIC.is_own_origin("https://outlast.example.org", "localhost:8400")
    assert not PUBLIC.is_own_origin("http://outlast.example.org", "localhost:8400")


@pytest.mark.parametrize(
    ("address", "loopback"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("[::1]", True), ("localhost", True),
     ("::ffff:127.0.0.1", True), ("0.0.0.0", False), ("::", False), ("10.0.0.1", False), ("example.org", False)],
)  # fmt: skip
def test_loopback_is_what_only_this_machine_reaches(address, loopback):
    assert is_loopback(address) is loopback
