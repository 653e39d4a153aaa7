"""Connections: accounts of people on other servers, which sign them in by OAuth 2.

A person begins a sign-in (`actions.py`), their browser goes to the other server and comes back, and the code that it
brings is exchanged for tokens (`oauth_client.py`), which are sealed in the person's row. `account_tokens.py` gives the
access token to a call and renews it, once for all calls that need it. Every request goes to permitted addresses only
(`web_client.py`); what other servers answer is checked in `rules.py`.
"""
