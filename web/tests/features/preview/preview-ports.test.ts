import { describe, expect, test } from 'vitest'
import type { PreviewPort } from '@outlast/sdk'
import { firstPort, labelOf, portOf } from '@/features/preview/preview-ports'

const port = (more: Partial<PreviewPort>): PreviewPort => ({
  port: 1,
  service: null,
  state: null,
  listening: true,
  ...more,
})

describe('which port is shown first', () => {
  test('a healthy service comes before a starting one, and that before whatever listens', () => {
    const listens = port({ port: 8000 })
    const starting = port({ port: 3000, service: 'api', state: 'starting', listening: false })
    const healthy = port({ port: 5173, service: 'web', state: 'healthy' })
    expect(firstPort([listens, starting, healthy])).toBe(5173)
    expect(firstPort([listens, starting])).toBe(3000)
    expect(firstPort([listens])).toBe(8000)
    expect(firstPort([])).toBeNull()
  })
})

test('a typed port is a whole number from 1 to 65535', () => {
  expect(portOf(' 3000 ')).toBe(3000)
  for (const text of ['', '0', '65536', '-1', '3e3', 'web', '100000']) expect(portOf(text)).toBeNull()
})

test('a port is called by its service', () => {
  expect(labelOf(port({ port: 5173, service: 'web' }))).toBe('web · 5173')
  expect(labelOf(port({ port: 8000 }))).toBe('Port 8000')
})
