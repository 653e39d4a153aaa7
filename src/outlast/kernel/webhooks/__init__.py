"""Webhooks: events of a project, sent to another program.

An event is put into the outbox (`webhook_deliveries`) in the transaction that appends it to a log (`outbox.py`). The
sender (`sender.py`) claims what is due, signs it (`signatures.py`) and posts it. A delivery is `pending` until the
address accepts it (`delivered`), or until a day of tries is over (`dead`); a replay makes it pending again. Deliveries
about one thing, such as a run, are sent in order.
"""
