import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

const WEB = join(import.meta.dirname, '..')
let folder = ''
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'lint-'))))
afterEach(() => rmSync(folder, { recursive: true }))

function lint(name: string, source: string): string {
  writeFileSync(join(folder, name), source)
  const oxlint = join(WEB, 'node_modules', '.bin', 'oxlint')
  try {
    return execFileSync(oxlint, ['--config', join(WEB, '.oxlintrc.json'), folder], { cwd: folder, encoding: 'utf8' })
  } catch (failed) {
    return (failed as { stdout: string }).stdout
  }
}

const component = (body: string) => `import { useState } from 'react'
export function Shown({ on }: { on: boolean }) {
${body}
  return <p>{x}</p>
}
`

it('refuses a hook that is called on some renders only', () => {
  const found = lint('shown.tsx', component('  if (on) return null\n  const [x] = useState(1)'))
  expect(found).toContain('rules-of-hooks')
})

it('takes a hook that is called on every render', () => {
  const found = lint('shown.tsx', component('  const [x] = useState(1)\n  if (on) return null'))
  expect(found).toContain('0 errors')
})
