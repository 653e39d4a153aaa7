"""Texts that are web pages."""

from __future__ import annotations

from outlast.kernel.web.pages import looks_like_html


def test_a_page_is_known_by_its_beginning() -> None:
    assert looks_like_html("\n<!DOCTYPE html><html>")
    assert not looks_like_html("# Title\n\n<html> is an element")
