import type { OutlastClient } from '../client.ts'
import { ProjectStore } from '../project-store.ts'
import { Store } from '../store.ts'
import { useShared } from './context.tsx'

/** Keeps a project's stream open, as soon as the project is known. */
export function useProjectNews(projectId: string | null): void {
  useShared<ProjectStore | Nothing>(projectId === null ? 'nothing' : `project ${projectId}`, (client: OutlastClient) =>
    projectId === null ? new Nothing() : new ProjectStore(client, projectId),
  )
}

/** Stands for a stream whose id is not known yet. */
export class Nothing extends Store<object> {
  constructor() {
    super({})
  }
  start(): void {}
  stop(): void {}
  rest(): void {}
  peek = () => Promise.resolve()
}
