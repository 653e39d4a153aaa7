// What a program written for E2B does, with its own SDK. Usage: node tour.mjs API_URL SANDBOX_URL KEY
import assert from 'node:assert/strict'
import { CommandExitError, NotFoundError, Sandbox, SandboxNotFoundError } from 'e2b'

const [apiUrl, sandboxUrl, apiKey] = process.argv.slice(2)
const connection = { apiUrl, sandboxUrl, apiKey }
const metadata = { tour: `javascript-${process.pid}` }

/** Waits until `look` gives something true. */
async function until(look, seconds = 30) {
  const end = Date.now() + seconds * 1000
  for (;;) {
    const found = await look()
    if (found) return found
    assert.ok(Date.now() < end, `nothing came of ${look}`)
    await new Promise((done) => setTimeout(done, 50))
  }
}

const steps = {
  async 'a command streams what it writes'(sandbox) {
    const seen = []
    const result = await sandbox.commands.run('echo one; echo two >&2; echo three; exit 0', {
      onStdout: (text) => seen.push(text),
    })
    assert.equal(result.stdout, 'one\nthree\n')
    assert.equal(result.stderr, 'two\n')
    assert.equal(seen.join(''), 'one\nthree\n')
  },
  async 'a failing command says how it ended'(sandbox) {
    const failed = await sandbox.commands.run('exit 3').catch((error) => error)
    assert.ok(failed instanceof CommandExitError)
    assert.equal(failed.exitCode, 3)
  },
  async 'a command in the background takes input and is killed'(sandbox) {
    const command = await sandbox.commands.run('cat', { background: true, stdin: true })
    await sandbox.commands.sendStdin(command.pid, 'hello\n')
    await until(() => command.stdout === 'hello\n')
    const listed = await sandbox.commands.list()
    assert.ok(listed.some((one) => one.pid === command.pid))
    assert.equal(await command.kill(), true)
    await assert.rejects(command.wait())
    assert.equal(await sandbox.commands.kill(command.pid), false)
  },
  async 'a terminal is talked to and resized'(sandbox) {
    let screen = ''
    const terminal = await sandbox.pty.create({
      cols: 80,
      rows: 24,
      onData: (data) => (screen += new TextDecoder().decode(data)),
    })
    await sandbox.pty.resize(terminal.pid, { cols: 100, rows: 30 })
    await sandbox.pty.sendInput(terminal.pid, new TextEncoder().encode('stty size; exit\n'))
    await terminal.wait()
    assert.match(screen, /30 100/)
  },
  async 'files are written, read, listed, moved and removed'(sandbox) {
    const written = await sandbox.files.write('folder/note.txt', 'Grüße')
    assert.equal(written.path, '/home/user/folder/note.txt')
    assert.equal(await sandbox.files.read('folder/note.txt'), 'Grüße')
    const bytes = new Uint8Array([0, 1, 2, 255])
    await sandbox.files.write('folder/raw.bin', bytes.buffer)
    assert.deepEqual(await sandbox.files.read('folder/raw.bin', { format: 'bytes' }), bytes)
    const names = (await sandbox.files.list('folder')).map((entry) => entry.name)
    assert.deepEqual(names.sort(), ['note.txt', 'raw.bin'])
    await sandbox.files.rename('folder/note.txt', 'folder/other.txt')
    assert.equal(await sandbox.files.exists('folder/note.txt'), false)
    assert.equal((await sandbox.files.getInfo('folder/other.txt')).size, 7)
    await sandbox.files.remove('folder')
    await assert.rejects(sandbox.files.read('folder/raw.bin'), NotFoundError)
    assert.equal(await sandbox.files.makeDir('made'), true)
    assert.equal(await sandbox.files.makeDir('made'), false)
  },
  async 'a folder is watched'(sandbox) {
    await sandbox.files.makeDir('watched')
    const seen = []
    const watch = await sandbox.files.watchDir('watched', (event) => seen.push(event))
    await sandbox.files.write('watched/new.txt', 'x')
    await until(() => seen.some((event) => event.name === 'new.txt'))
    await watch.stop()
  },
  async 'a signed address gives a file to whoever has it'(sandbox) {
    await sandbox.files.write('public.txt', 'for you')
    const address = await sandbox.downloadUrl('public.txt', { useSignatureExpiration: 60 })
    const answer = await fetch(address)
    assert.equal(await answer.text(), 'for you')
    const forged = await fetch(address.replace('public.txt', 'secret.txt'))
    assert.equal(forged.status, 401)
  },
  async 'it is found among others'(sandbox) {
    const pages = Sandbox.list({ ...connection, query: { metadata } })
    const found = await pages.nextItems()
    assert.deepEqual(
      found.map((one) => one.sandboxId),
      [sandbox.sandboxId],
    )
    assert.equal(pages.hasNext, false)
  },
  async 'it tells what it uses'(sandbox) {
    const [metric] = await sandbox.getMetrics()
    assert.ok(metric.memUsed > 0)
  },
  async 'it sleeps with its memory and wakes'(sandbox) {
    const command = await sandbox.commands.run('sleep 600', { background: true })
    assert.equal(await sandbox.pause(), true)
    assert.equal((await Sandbox.getInfo(sandbox.sandboxId, connection)).state, 'paused')
    const again = await Sandbox.connect(sandbox.sandboxId, connection)
    const listed = await again.commands.list()
    assert.ok(listed.some((one) => one.pid === command.pid))
    assert.equal(await again.files.read('public.txt'), 'for you')
  },
  async 'it is killed once'(sandbox) {
    assert.equal(await sandbox.kill(), true)
    assert.equal(await Sandbox.kill(sandbox.sandboxId, connection), false)
    await assert.rejects(Sandbox.connect(sandbox.sandboxId, connection), SandboxNotFoundError)
    assert.equal(await sandbox.isRunning(), false)
  },
}

const sandbox = await Sandbox.create({ ...connection, metadata, timeoutMs: 300_000 })
for (const [name, step] of Object.entries(steps)) {
  await step(sandbox)
  console.log(name)
}
console.log('done')
process.exit(0)
