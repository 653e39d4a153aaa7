"""Which hosts of pictures can be asked for and allowed."""

import pytest

from outlast.apps.screens.image_hosts import checked_host, host_of
from outlast.base.errors import MalformedInput


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://Images.Example.org/a.png?x=1", "images.example.org"),
        ("http://images.example.org:8080/a.png", "images.example.org:8080"),
        ("https://images.example.org:443/", "images.example.org"),
        ("https://127.0.0.1/a.png", None),
        ("http://169.254.169.254/latest", None),
        ("http://[::1]/a.png", None),
        ("http://localhost/a.png", None),
        ("http://[", None),
        ("https://a.example:99999/", None),
        ("ftp://a.example/", None),
        ("data", None),
        ("", None),
        ("https://a.example; script-src */", None),
    ],
)
def test_a_pictures_address_names_a_public_host_or_none(address: str, host: str | None):
    assert host_of(address) == host


@pytest.mark.parametrize(
    "text",
    ["", "*", "https://a.example", "a.example/x", "a b.example", "10.0.0.1", "me@a.example", "a.example;x", "'self'"],
)
def test_only_names_of_hosts_can_be_allowed(text: str):
    with pytest.raises(MalformedInput):
        checked_host(text)
    assert checked_host(" Images.Example.org:8080 ") == "images.example.org:8080"
