import { Code2, MessageSquare, SlidersHorizontal, type LucideIcon } from 'lucide-react'
import { lazy, type ComponentType, type LazyExoticComponent } from 'react'
import type { ScreenData } from '@outlast/sdk'

export type TabName = 'chat' | 'edit' | 'code'

interface Tab {
  label: string
  icon: LucideIcon
  view: LazyExoticComponent<ComponentType<{ screen: ScreenData }>>
}

/** The tabs of a screen; each loads when it is first opened. */
export const TABS: Record<TabName, Tab> = {
  chat: {
    label: 'Chat',
    icon: MessageSquare,
    view: lazy(() => import('../chat/chat-tab').then(({ ChatTab }) => ({ default: ChatTab }))),
  },
  edit: {
    label: 'Edit',
    icon: SlidersHorizontal,
    view: lazy(() => import('../edit/edit-tab').then(({ EditTab }) => ({ default: EditTab }))),
  },
  code: {
    label: 'Code',
    icon: Code2,
    view: lazy(() => import('../code/code-tab').then(({ CodeTab }) => ({ default: CodeTab }))),
  },
}

export const isTab = (word: string): word is TabName => word in TABS
