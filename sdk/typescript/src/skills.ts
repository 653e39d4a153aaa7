/** Requests about skills, which a project's agents use: `client.skills`. */
import type { Page, Skill, SkillContent, SkillText } from './api.gen.ts'
import type { OutlastClient } from './client.ts'

/** A file of a folder, with its path. */
export interface FileAt {
  path: string
  file: Blob
}

const at = (projectId: string, name = '') => `/v1/projects/${projectId}/skills${name && `/${encodeURIComponent(name)}`}`

export class Skills {
  constructor(readonly client: OutlastClient) {}

  list = (projectId: string, signal?: AbortSignal) => this.client.json<Page<Skill>>('GET', at(projectId), { signal })
  /** Adds a skill from the files of its folder, or from one zip. `replace` replaces the skill of the same name. */
  create = (projectId: string, files: readonly FileAt[], replace = false) => {
    const form = new FormData()
    for (const { path, file } of files) form.append('file', file, path)
    return this.client.json<Skill>('POST', at(projectId), { form, ...(replace && { query: { replace: 'true' } }) })
  }
  get = (projectId: string, name: string, signal?: AbortSignal) =>
    this.client.json<SkillContent>('GET', at(projectId, name), { signal })
  file = (projectId: string, name: string, path: string, signal?: AbortSignal) =>
    this.client.json<SkillText>('GET', `${at(projectId, name)}/file`, { query: { path }, signal })
  turn = (projectId: string, name: string, enabled: boolean) =>
    this.client.json<Skill>('PATCH', at(projectId, name), { body: { enabled } })
  delete = (projectId: string, name: string) => this.client.json<void>('DELETE', at(projectId, name))
}
