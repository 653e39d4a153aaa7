/**
 * The apps of the web app, in the order of the sidebar.
 *
 * To add one, add its folder and its line here. Nothing else names an app: the shell, threads, the inbox and the pages
 * of runs read what apps declare (`useApps`). `apps/<name>/index.tsx` exports an `App` (`lib/apps.ts` has the types):
 *
 * - `name`: as on the server, and the name of the folder.
 * - `routes`: wouter's `<Route>`s. Their pages are `lazy`: this module is part of the first load, so `index.tsx`
 *   imports nothing but icons, `lib/` and small pure functions.
 * - `lists`: its list pages below `/projects/:id/`. Each becomes an entry of the sidebar and of the command palette.
 * - `subject`: the noun that has a thread, with the anchors that mean it and the path where its thread is read.
 * - `threadViews`: a module with its views inside threads: views of parts by their type, answers of its agents,
 *   messages that it wrote for a person. Loaded with the first thread that is opened.
 * - `inbox`: the kinds of its inbox items, with their title and their buttons, and the place that an item opens.
 * - `RunFacts`: more facts for the page of a run.
 *
 * An app imports from `lib/`, `components/` and `features/`, and by relative paths from its own folder; never from
 * another app. The linter checks this, and `tests/apps/index.test.ts` that no two apps declare the same.
 */
import type { App } from '@/lib/apps'
import { documents } from './documents'
import { knowledge } from './knowledge'
import { pages } from './pages'
import { screens } from './screens'
import { skills } from './skills'

export const APPS: readonly App[] = [screens, pages, documents, knowledge, skills]
