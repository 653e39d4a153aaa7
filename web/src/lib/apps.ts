/** The declaration of an app of the web app (`apps/index.ts` lists them), and how other code reads it. */
import type { LucideIcon } from 'lucide-react'
import { createContext, useContext, type ComponentType, type ReactElement } from 'react'
import type { InboxItem, Message, Part, Pending, RunView, Thread } from '@outlast/sdk'

export interface App {
  /** As on the server; also the name of its folder. */
  name: string
  /** Wouter's `<Route>`s. Their pages are `lazy`, so that each is a chunk of its own. */
  routes: ReactElement[]
  /** Its list pages, each with an entry in the sidebar and in the command palette. */
  lists: readonly ListPage[]
  /** The subject of its threads. */
  subject?: Subject
  /** Its views inside threads. Loaded with the first thread that is opened. */
  threadViews?: () => Promise<{ default: ThreadViews }>
  inbox?: InboxViews
  /** More facts for the page of a run: `<Fact>`s, or nothing. A `lazy` component. */
  RunFacts?: ComponentType<{ run: RunView }>
}

/** A page of a project with all things of one kind. */
export interface ListPage {
  /** Plural, sentence case: "Documents". */
  label: string
  icon: LucideIcon
  /** Below `/projects/:id/`, without a slash: `documents`. */
  path: string
  /** The prefix of the paths of single things, which keep the entry highlighted: `/documents/`. */
  items?: string
  /** The page has a message box. A click on its entry moves the focus there. */
  hasComposer?: boolean
}

/** The noun of an app that has a thread: one screen, one page, one document. */
export interface Subject {
  /** As on the server: the `type` of the anchor of its thread. */
  noun: string
  /** Singular, sentence case: "Document". */
  label: string
  icon: LucideIcon
  /** The id of the thing that a thread with this anchor is about, in whole or in part; null if it is about none of
   * them. */
  idOf: (anchor: NonNullable<Thread['anchor']>) => string | null
  /** The path where a thread about it is read. */
  href: (id: string, threadId: string) => string
  /** The subject of a fork of its thread: a copy, or the same thing. */
  forksAre: 'about a copy' | 'about the same'
  /** Loads a thing that was just created, so that its page shows it before the project's stream delivers it. */
  load?: (id: string) => Promise<void>
}

/** The id of an anchor of this type; null for other anchors. For `Subject.idOf`. */
export const anchorId =
  (noun: string) =>
  ({ type, id }: NonNullable<Thread['anchor']>): string | null =>
    type === noun && typeof id === 'string' ? id : null

export interface ThreadViews {
  /** Views of the parts of an answer, by type. Types of the kernel (text, tool calls, …) cannot be replaced. */
  parts?: { readonly [T in Part['type']]?: ComponentType<{ part: Extract<Part, { type: T }> }> }
  /** Views of agents, by name. */
  agents?: Readonly<Record<string, AgentView>>
  /** Messages that the app wrote for a person. */
  messages?: MessageView
  /** Tools whose approval cannot be remembered: a person decides about each call. */
  decidedEachTime?: readonly string[]
}

export interface AgentView {
  /** Renders an answer. Undefined: its parts in order. */
  Answer?: ComponentType<AnswerProps>
  /** The text that an answer's copy button copies. Undefined: the text of its parts. */
  answerText?: (message: Message) => string
  /** Undefined: the texts for a thread with an empty workspace. */
  workspace?: WorkspaceTexts
}

export interface AnswerProps {
  parts: Part[]
  /** Pending approvals and questions, shown in the place of their tool call. */
  pending: Pending[]
  /** The answer is still being generated. */
  live: boolean
}

/** Texts about a workspace whose files cannot be restored. */
export interface WorkspaceTexts {
  /** The noun in "The files of this … cannot be restored": "screen". */
  owner: string
  /** The label of the button that starts over, without a full stop. */
  start: string
  /** The consequence of starting over, as a sentence. */
  lost: string
  /** The message after starting over, as a sentence. */
  done: string
}

export interface MessageView {
  /** True if the app wrote this text. Called for every rendered message: must be fast and free of side effects. */
  matches: (text: string) => boolean
  View: ComponentType<{ text: string; className: string }>
  /** The message in one line, for the queue. */
  summary: (text: string) => string
}

/** An inbox item. Its kind may belong to an app that the contract does not know. */
export type InboxEntry = Omit<InboxItem, 'kind'> & { kind: string }

export interface InboxViews {
  /** By the kind of the item. Kinds are unique across apps. */
  kinds: Readonly<Record<string, InboxKindView>>
  /** The place that an item opens, or null if it is not in this app. */
  placeOf: (item: InboxEntry) => InboxPlace | null
}

export interface InboxKindView {
  /** The label of the filter for this kind: "Mentions". */
  group: string
  icon: LucideIcon
  /** `action`: another person or an agent waits for a decision. `news`: for reading. */
  tone: 'action' | 'news'
  /** One line that names the request: "Ada mentioned you". */
  title: (item: InboxEntry) => string
  /** Buttons, from left to right; the first is the main one. */
  actions: readonly InboxAction[]
  /** Marks an item as read. Called when a person opens it; for kinds that do not end with a decision. */
  read?: (item: InboxEntry) => Promise<unknown>
}

export interface InboxAction {
  label: string
  isPrimary?: boolean
  /** Undefined: the button opens the item. */
  run?: (item: InboxEntry, place: InboxPlace) => Promise<unknown>
  /** The message after success. Undefined: no message, the item disappears. */
  done?: (item: InboxEntry) => string
}

export interface InboxPlace {
  /** The title of the item's subject. Empty if it is untitled. */
  title: string
  href: string
  icon: LucideIcon
  /** Hands the requested lock over to a user. Undefined: the lock is on the item's thread, not on a part of the
   * subject. */
  handOver?: (userId: string) => Promise<unknown>
}

export const AppsContext = createContext<readonly App[]>([])

/** All apps, in the order of `apps/index.ts`. */
export const useApps = (): readonly App[] => useContext(AppsContext)
