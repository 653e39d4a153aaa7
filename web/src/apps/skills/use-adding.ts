import { useState } from 'react'
import { OutlastError, type FileAt } from '@outlast/sdk'
import { say } from '@/components/toast'
import { client } from '@/lib/queries'
import { reload } from './skills'

interface Taken {
  name: string
  files: FileAt[]
}

/** Adds skills one after the other. `taken`: one whose name the project has already, until the person decides. */
export function useAdding(projectId: string) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const [taken, setTaken] = useState<Taken[]>([])

  async function add(skills: FileAt[][], replace = false): Promise<void> {
    setBusy(true)
    setError(null)
    for (const files of skills) {
      try {
        const { name } = await client.skills.create(projectId, files, replace)
        say(replace ? `Replaced ${name}` : `Added ${name}`)
      } catch (reason) {
        if (reason instanceof OutlastError && reason.code === 'skill_name_taken')
          setTaken((before) => [...before, { name: String(reason.fields['name']), files }])
        else setError(reason as Error)
      }
    }
    setBusy(false)
    await reload(projectId)
  }

  const [first] = taken
  return {
    busy,
    error,
    add,
    taken: first,
    replace: () => first !== undefined && void add([first.files], true),
    decided: () => setTaken(([, ...others]) => others),
  }
}
