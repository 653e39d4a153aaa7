/** What an app of the web app declares (`apps/index.ts` lists them), and how everything else reads it. */
import type { LucideIcon } from 'lucide-react'
import { createContext, useContext, type ComponentType, type ReactElement } from 'react'
import type { InboxItem, Message, Part, Pending, RunView, Thread } from '@outlast/sdk'

export interface App {
  /** As on the server; also the name of its folder. */
  name: string
  /** Wouter's `<Route>`s. Their pages are `lazy`, so that each is a chunk of its own. */
  routes: ReactElement[]
  /** Its list pages, one entry each in the sidebar and in the command palette. */
  lists: readonly ListPage[]
  /** What its threads are about. */
  subject?: Subject
  /** What it shows inside threads. Loaded with the first thread that is opened. */
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
  /** How the paths of single things begin, which keep the entry highlighted: `/documents/`. */
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
  /** The id of the one that a thread with this anchor is about, wholly or in part; null: about none of them. */
  idOf: (anchor: NonNullable<Thread['anchor']>) => string | null
  /** The path where a thread about it is read. */
  href: (id: string, threadId: string) => string
  /** What a fork of its thread is about: a copy of it, or the same one. */
  forksAre: 'about a copy' | 'about the same'
  /** Loads one that was just made, so that its page shows it before the project's stream tells of it. */
  load?: (id: string) => Promise<void>
}

/** The id of an anchor of this type; null for other anchors. For `Subject.idOf`. */
export const anchorId =
  (noun: string) =>
  ({ type, id }: NonNullable<Thread['anchor']>): string | null =>
    type === noun && typeof id === 'string' ? id : null

export interface ThreadViews {
  /** How a part of an answer is shown, by its type. Types of the kernel (text, tool calls, …) cannot be replaced. */
  parts?: { readonly [T in Part['type']]?: ComponentType<{ part: Extract<Part, { type: T }> }> }
  /** What is special about an agent, by its name. */
  agents?: Readonly<Record<string, AgentView>>
  /** Messages whose text the app wrote for a person. */
  messages?: MessageView
  /** Tools whose approval cannot be remembered: a person decides about each call. */
  decidedEachTime?: readonly string[]
}

export interface AgentView {
  /** Draws an answer. None: its parts one below the other. */
  Answer?: ComponentType<AnswerProps>
  /** What the copy button of an answer copies. None: the text of its parts. */
  answerText?: (message: Message) => string
  /** None: the texts for a thread with an empty workspace. */
  workspace?: WorkspaceTexts
}

export interface AnswerProps {
  parts: Part[]
  /** What waits for a person, to be shown in the place of its tool call. */
  pending: Pending[]
  /** The answer still grows. */
  live: boolean
}

/** Texts about a workspace whose files cannot be restored. */
export interface WorkspaceTexts {
  /** In "The files of this … cannot be restored": "screen". */
  owner: string
  /** On the button that starts over, without a full stop. */
  start: string
  /** What starting over loses, as a sentence. */
  lost: string
  /** Shown once it has started over, as a sentence. */
  done: string
}

export interface MessageView {
  /** Whether the app wrote this text. Called for each message that is drawn: fast, and without side effects. */
  matches: (text: string) => boolean
  View: ComponentType<{ text: string; className: string }>
  /** The message in one line, for the queue. */
  summary: (text: string) => string
}

/** An item of the inbox. Its kind may be one of an app that the contract does not know. */
export type InboxEntry = Omit<InboxItem, 'kind'> & { kind: string }

export interface InboxViews {
  /** By the kind of the item. Two apps cannot have the same kind. */
  kinds: Readonly<Record<string, InboxKindView>>
  /** Where an item is; null: not in this app. */
  placeOf: (item: InboxEntry) => InboxPlace | null
}

export interface InboxKindView {
  /** The name of the filter that shows only these: "Mentions". */
  group: string
  icon: LucideIcon
  /** `action`: somebody waits for a decision. `news`: for reading. */
  tone: 'action' | 'news'
  /** One line that says what is wanted: "Ada mentioned you". */
  title: (item: InboxEntry) => string
  /** Buttons, from left to right; the first is the main one. */
  actions: readonly InboxAction[]
  /** Marks an item as read. Called when a person opens it; for kinds that no decision ends. */
  read?: (item: InboxEntry) => Promise<unknown>
}

export interface InboxAction {
  label: string
  isPrimary?: boolean
  /** None: the button opens the item. */
  run?: (item: InboxEntry, place: InboxPlace) => Promise<unknown>
  /** What is said when it is done. None: nothing, the item just goes away. */
  done?: (item: InboxEntry) => string
}

export interface InboxPlace {
  /** The title of what the item is about. Empty: it is untitled. */
  title: string
  href: string
  icon: LucideIcon
  /** Gives the lock that is asked for to a user. None: the item's thread is locked, not a part of the subject. */
  handOver?: (userId: string) => Promise<unknown>
}

export const AppsContext = createContext<readonly App[]>([])

/** All apps, in the order of `apps/index.ts`. */
export const useApps = (): readonly App[] => useContext(AppsContext)
