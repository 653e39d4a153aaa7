import { expect, test } from 'vitest'
import { filesOfFolder, skillsDropped } from '@/apps/skills/skills'

const chosen = (path: string): File => {
  const file = new File(['x'], path.split('/').at(-1) ?? '')
  Object.defineProperty(file, 'webkitRelativePath', { value: path })
  return file
}

const entry = (fullPath: string, children?: FileSystemEntry[]): FileSystemEntry => {
  const rest = [children ?? []]
  const made = {
    fullPath,
    isFile: children === undefined,
    file: (done: (file: File) => void) => done(new File(['x'], fullPath)),
    createReader: () => ({ readEntries: (done: (found: FileSystemEntry[]) => void) => done(rest.shift() ?? []) }),
  }
  return made as unknown as FileSystemEntry
}

const dropped = (...entries: FileSystemEntry[]) =>
  skillsDropped(entries.map((one) => ({ webkitGetAsEntry: () => one }) as unknown as DataTransferItem))

test('a chosen folder keeps its paths, without what tools leave in it', () => {
  const files = ['greet/SKILL.md', 'greet/scripts/a.py', 'greet/.git/config', 'greet/.DS_Store'].map(chosen)
  expect(filesOfFolder(files).map(({ path }) => path)).toEqual(['greet/SKILL.md', 'greet/scripts/a.py'])
})

test('each dropped folder or file is a skill', async () => {
  const folder = entry('/greet', [entry('/greet/SKILL.md'), entry('/greet/scripts', [entry('/greet/scripts/a.py')])])
  const skills = await dropped(folder, entry('/wave.zip'))
  expect(skills.map((files) => files.map(({ path }) => path))).toEqual([
    ['greet/SKILL.md', 'greet/scripts/a.py'],
    ['wave.zip'],
  ])
})
