import { Files } from 'lucide-react'
import type { App, ListPage } from '@/lib/apps'

const FILES: ListPage = { label: 'Files', icon: Files, path: 'files' }

/** The list pages of a project: those of the apps, then its files. */
export const listPages = (apps: readonly App[]): ListPage[] => [...apps.flatMap(({ lists }) => lists), FILES]
