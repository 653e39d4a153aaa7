"""A chat in the browser: `python examples/chat.py`, then open http://127.0.0.1:8500."""

import os
import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SERVER = os.environ.get("OUTLAST_URL", "http://127.0.0.1:8400")
TOKEN = os.environ.get("OUTLAST_TOKEN")
PORT = int(sys.argv[1]) if len(sys.argv) > 1 else 8500
PAGE = b"""<!doctype html><meta charset="utf-8"><title>Chat</title>
<main id="chat" style="white-space: pre-wrap"></main>
<form id="form"><input name="text" size="60" autofocus> <button>Send</button></form>
<script>
let thread
const add = (tag, text) => chat.appendChild(Object.assign(document.createElement(tag), { textContent: text }))
const post = async (path, body) => {
  const headers = { 'content-type': 'application/json' }
  return (await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).json()
}
form.onsubmit = async (event) => {
  event.preventDefault()
  const content = form.text.value
  const run = await post(thread ? `/v1/threads/${thread}/runs` : '/v1/runs', { content })
  if (!run.run_id) return add('p', `${run.detail} ${run.hint}`)
  thread = run.thread_id
  form.reset()
  add('h4', content)
  follow(run.run_id)
}
function follow(run) {
  const parts = new Map(), shown = new Map()
  const stream = new EventSource(`/v1/runs/${run}/events`)
  stream.onmessage = (message) => {
    const { event, data } = JSON.parse(message.data)
    if (event === 'text.delta') parts.get(data.part_id).text += data.delta
    if (event === 'step.reset') for (const [id, { step }] of parts) if (step === data.step) parts.delete(id)
    for (const part of data.parts ?? (data.part ? [data.part] : [])) parts.set(part.id, part)
    for (const id of shown.keys()) if (!parts.has(id)) shown.get(id).remove()
    for (const [id, part] of parts) {
      if (!shown.has(id)) shown.set(id, add('p', ''))
      shown.get(id).textContent = { text: part.text, tool_call: `${part.tool} ${part.arguments}` }[part.type] ?? ''
    }
    if (event === 'approval.requested')
      for (const decision of ['approve', 'deny'])
        add('button', decision).onclick = () => post(`/v1/approvals/${data.approval.id}`, { decision })
    if (event === 'run.error') add('p', data.error.message)
    if (event === 'stream.ended') stream.close()
  }
}
</script>"""


class Chat(BaseHTTPRequestHandler):
    """Serves the page and forwards its requests. The browser never sees the token."""

    def do_GET(self):
        if self.path == "/":
            self.answer(200, "text/html", [PAGE])
        else:
            self.forward(None)

    def do_POST(self):
        self.forward(self.rfile.read(int(self.headers["content-length"])))

    def forward(self, body):
        if self.headers["host"] != f"127.0.0.1:{PORT}" or not self.path.startswith("/v1/"):
            self.send_error(403)  # a host name of another site may lead to this machine
            return
        headers = {name: self.headers[name] for name in ("content-type", "last-event-id") if name in self.headers}
        if TOKEN:
            headers["authorization"] = f"Bearer {TOKEN}"
        try:
            found = urllib.request.urlopen(urllib.request.Request(SERVER + self.path, body, headers))
        except urllib.error.HTTPError as refusal:
            found = refusal
        with found:
            self.answer(found.status, found.headers["content-type"], iter(lambda: found.read1(65_536), b""))

    def answer(self, status, kind, chunks):
        self.send_response(status)
        self.send_header("content-type", kind or "text/plain")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(chunk)


ThreadingHTTPServer(("127.0.0.1", PORT), Chat).serve_forever()
