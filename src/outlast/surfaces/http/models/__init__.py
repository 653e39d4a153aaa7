"""What crosses the network, one file per noun. Requests refuse unknown fields; answers are described for the reference
and the generated clients. Threads, messages, parts and locks have the same shape here as in events (`base/events.py`).
"""
