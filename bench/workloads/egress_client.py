"""A client of an HTTPS host: `python3 egress_client.py HOST PORT PROXY_PORT COUNT AUTHORITY [HEADER]` prints the
mean time of COUNT requests over a kept connection, in milliseconds. PROXY_PORT 0 connects directly. It uses only the
standard library, because it also runs inside a sandbox."""

import socket
import ssl
import sys
import time

WARM = 30


def connect(host: str, port: int, proxy_port: int, authority: str) -> ssl.SSLSocket:
    sock = socket.create_connection(("127.0.0.1", proxy_port or port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if proxy_port:
        sock.sendall(f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n".encode())
        answer = sock.recv(4096)
        if b" 200 " not in answer:
            raise SystemExit(answer.decode())
    return ssl.create_default_context(cafile=authority).wrap_socket(sock, server_hostname=host)


def ask(tls: ssl.SSLSocket, request: bytes) -> None:
    tls.sendall(request)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += tls.recv(65536)
    head, body = answer.split(b"\r\n\r\n", 1)
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    if b" 200 " not in head:
        raise SystemExit(answer.decode())
    while len(body) < length:
        body += tls.recv(65536)


def main() -> None:
    host, port, proxy_port, count, authority = sys.argv[1:6]
    header = "".join(f"{line}\r\n" for line in sys.argv[6:])
    request = f"GET /v1/issues HTTP/1.1\r\nHost: {host}\r\nUser-Agent: bench\r\nAccept: */*\r\n{header}\r\n".encode()
    with connect(host, int(port), int(proxy_port), authority) as tls:
        for _ in range(WARM):
            ask(tls, request)
        began = time.perf_counter()
        for _ in range(int(count)):
            ask(tls, request)
        print((time.perf_counter() - began) * 1000 / int(count))


if __name__ == "__main__":
    main()
