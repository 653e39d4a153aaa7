"""What a sandbox's ports serve, seen from outside: `listening.py` finds the ports, `line.py` is one connection to one,
`exchange.py` an HTTP request over it, `pool.py` keeps connections for the next request, and `keepalives.py` tells a
person's use of a WebSocket from the beats that keep it open.

    line = Line(await sandbox.dial(3000))
    await line.send(request_head("GET", b"/", [(b"host", b"localhost")], None))
    answer = Answer(line, is_head=False)
    print((await answer.head()).status, await answer.piece())
"""
