/** One project kept up to date by its stream. Components load the lists that they show. */
import type { Member, OutlastEvent, Project } from './api.gen.ts'
import type { OutlastClient } from './client.ts'
import { Connection, type ConnectionState } from './connection.ts'
import { Store } from './store.ts'

export interface ProjectSnapshot {
  project: Project | null
  /** Members who have the project open now. */
  watching: Member[]
  connection: ConnectionState
}

export class ProjectStore extends Store<ProjectSnapshot> {
  readonly #connection: Connection

  constructor(
    readonly client: OutlastClient,
    readonly projectId: string,
  ) {
    super({ project: null, watching: [], connection: { status: 'connecting', failures: 0, error: null } })
    this.#connection = new Connection({
      load: (signal) => this.#load(signal),
      open: (cursor, signal) => client.openEvents('projects', projectId, cursor, signal),
      onEvents: (events) => this.#fold(events),
      onPresence: (presence) => {
        if (presence.document_id === '') this.patch({ watching: presence.watching })
        client.announcePresence(presence)
      },
      onState: (connection) => this.patch({ connection }),
    })
  }

  start = () => this.#connection.start()
  stop = () => this.#connection.stop()
  rest = () => this.#connection.rest()
  peek = () => Promise.resolve()

  async #load(signal: AbortSignal): Promise<string> {
    const project = await this.client.project(this.projectId, signal)
    this.patch({ project })
    this.client.announceSnapshot('projects', this.projectId)
    return project.cursor
  }

  #fold(events: OutlastEvent[]): void {
    for (const event of events) {
      const { project } = this.get()
      if (event.event === 'project.updated' && project !== null)
        this.patch({ project: { ...project, name: event.data.name } })
      this.client.announce(event)
    }
  }
}
