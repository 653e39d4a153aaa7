"""Access to a sandbox's ports from outside: `listeners.py` finds the ports, `line.py` is one connection to a port,
`exchange.py` an HTTP request over it, `pool.py` keeps connections for the next request, and `keepalives.py`
distinguishes a user's activity on a WebSocket from keep-alive messages.

    line = Line(await sandbox.dial(3000))
    await line.send(request_head("GET", b"/", [(b"host", b"localhost")], None))
    answer = Answer(line, is_head=False)
    print((await answer.head()).status, await answer.piece())
"""
