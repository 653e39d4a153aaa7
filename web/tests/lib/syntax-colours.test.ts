import { expect, test } from 'vitest'
import { answerOn, Colouring } from '@/lib/syntax-colours'
import { colour } from '@/lib/highlighter'

/** The real highlighter at the far end of a channel, as in the worker. */
function highlighting(): { client: Colouring; started: () => number; close: () => void } {
  const { port1, port2 } = new MessageChannel()
  let started = 0
  const client = new Colouring(() => {
    started += 1
    return port1
  })
  answerOn(port2, colour)
  return { client, started: () => started, close: () => port1.close() }
}

test('colours arrive, each for the code that was asked about, from one worker', async () => {
  const { client, started, close } = highlighting()
  const [first, second] = await Promise.all([
    client.colour('const a = 1\nlet b', 'ts'),
    client.colour('def f(): pass', 'py'),
  ])
  const texts = (lines: typeof first) => lines?.map((line) => line.map(({ content }) => content).join(''))
  expect(texts(first)).toEqual(['const a = 1', 'let b'])
  expect(texts(second)).toEqual(['def f(): pass'])
  expect(first?.[0]?.[0]?.htmlStyle).toMatchObject({ color: expect.stringMatching(/^#/) })
  expect(started()).toBe(1)
  close()
})

test('a language that is not known stays plain', async () => {
  const { client, close } = highlighting()
  expect(await client.colour('1 2 +', 'forth')).toBeNull()
  close()
})

test('code that cannot be coloured stays plain, and the next one is coloured', async () => {
  const { port1, port2 } = new MessageChannel()
  const client = new Colouring(() => port1)
  answerOn(port2, (code, language) => (code === '' ? Promise.reject(new Error('no')) : colour(code, language)))
  expect(await client.colour('', 'ts')).toBeNull()
  expect(await client.colour('let b', 'ts')).toHaveLength(1)
  port1.close()
})

test('a worker that the browser refuses to make leaves plain code', async () => {
  let tries = 0
  const client = new Colouring(() => {
    tries += 1
    throw new Error('refused by the content security policy')
  })
  expect(await client.colour('let a', 'ts')).toBeNull()
  expect(await client.colour('let b', 'ts')).toBeNull()
  expect(tries).toBe(1)
})

test('a worker whose program does not load leaves plain code, asked before and after', async () => {
  const { port1 } = new MessageChannel()
  const worker = Object.assign(port1, { onerror: null as Worker['onerror'] })
  const client = new Colouring(() => worker)
  const asked = client.colour('let a', 'ts')
  worker.onerror?.call(worker as unknown as Worker, new Event('error') as ErrorEvent)
  expect(await asked).toBeNull()
  expect(await client.colour('let b', 'ts')).toBeNull()
  port1.close()
})
