import { CalendarClock, Files } from 'lucide-react'
import type { App, ListPage } from '@/lib/apps'

const FILES: ListPage = { label: 'Files', icon: Files, path: 'files' }

const SCHEDULES: ListPage = { label: 'Schedules', icon: CalendarClock, path: 'schedules' }

/** The list pages of a project: those of the apps, then its files and schedules. */
export const listPages = (apps: readonly App[]): ListPage[] => [...apps.flatMap(({ lists }) => lists), FILES, SCHEDULES]
