"""Which host a request's head names, and what counts as one address."""

import pytest

from outlast.base.errors import MalformedInput
from outlast.kernel.http.request_heads import UnfinishedHeads, network_of, settle_host

HOST = (b"host", b"localhost:8400")


def test_a_head_with_one_host_and_a_path_stays_as_it_is():
    headers = [HOST, (b"accept", b"*/*")]
    assert settle_host(b"/v1/me?a=http://b", headers) is None
    assert headers == [HOST, (b"accept", b"*/*")]


@pytest.mark.parametrize("name", [b"host", b"origin"])
def test_a_header_that_says_who_asks_may_be_there_once(name):
    headers = [HOST, (b"origin", b"http://localhost:8400"), (name, b"evil.example")]
    assert isinstance(settle_host(b"/", headers), MalformedInput)


@pytest.mark.parametrize(
    ("target", "host"),
    [
        (b"http://evil.example/v1/me", b"evil.example"),
        (b"HTTPS://evil.example:81/", b"evil.example:81"),
        (b"http://[::1]:8400/", b"[::1]:8400"),
    ],
)
def test_a_target_that_names_a_host_replaces_the_header(target, host):
    headers = [(b"accept", b"*/*"), HOST]
    assert settle_host(target, headers) is None
    assert headers == [(b"accept", b"*/*"), (b"host", host)]


@pytest.mark.parametrize("target", [b"ftp://localhost/", b"http://me@localhost/"])
def test_a_target_of_another_kind_is_refused(target):
    assert isinstance(settle_host(target, [HOST]), MalformedInput)


def test_an_ipv6_network_counts_as_one_address():
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:2") == "2001:db8::/64"
    assert network_of("2001:db8:0:1::1") != network_of("2001:db8::1")
    assert network_of("::ffff:10.0.0.1") == network_of("10.0.0.1") == "10.0.0.1"
    assert network_of("fe80::1%eth0") == "fe80::/64"
    assert network_of("nonsense:") == "nonsense:"


def test_addresses_without_unfinished_heads_are_forgotten():
    heads = UnfinishedHeads()
    assert [heads.enter("a"), heads.enter("a"), heads.enter("b")] == [1, 2, 1]
    for address in ("a", "a", "b"):
        heads.leave(address)
    assert not heads._counts
