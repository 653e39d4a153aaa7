"""Language models behind one protocol.

Words: a *provider* is a service with a base URL and a key (OpenRouter, a local vLLM, the demo); a *model* is something
people choose, with an id, a price in credits and a provider; an *adapter* (`providers/`) speaks one provider's wire
format. A *turn* is one request and its streamed answer, made of *deltas*; a *piece* is what a message is made of.

`protocol.py` is all that others need; `catalog.py` turns the configuration into models and owns the connections;
`prices.py` says what a turn cost. Adapters never retry: workers do, guided by the error's branch (`base/errors.py`).
A new provider is one file in `providers/` and one line in its `__init__.py`.
"""
