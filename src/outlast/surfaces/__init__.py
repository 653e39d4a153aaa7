"""Surfaces: `http/` serves programs and browsers, `cli/` people in a terminal, `protocols/` third-party clients. A
surface translates: it reads its input, calls one action or follows a stream, and shapes the answer."""
