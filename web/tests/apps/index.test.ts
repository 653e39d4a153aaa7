import type { ReactElement } from 'react'
import { expect, test } from 'vitest'
import { Route } from 'wouter'
import { APPS } from '@/apps'
import { inboxKinds } from '@/features/inbox/inbox-kinds'

const taken = (names: readonly string[]) => names.filter((name, at) => names.indexOf(name) !== at)

const pathOf = (route: ReactElement): string => String((route.props as { path?: unknown }).path)

const views = await Promise.all(APPS.map(async ({ threadViews }) => (await threadViews?.())?.default ?? {}))

test.each([
  ['name', APPS.map(({ name }) => name)],
  ['route', APPS.flatMap(({ routes }) => routes.map(pathOf))],
  ['list page', APPS.flatMap(({ lists }) => lists.map(({ path }) => path))],
  ['subject', APPS.flatMap(({ subject }) => (subject === undefined ? [] : [subject.noun]))],
  ['view of a part', views.flatMap(({ parts = {} }) => Object.keys(parts))],
  ['view of an agent', views.flatMap(({ agents = {} }) => Object.keys(agents))],
  ['inbox kind', [...Object.keys(inboxKinds([])), ...APPS.flatMap(({ inbox }) => Object.keys(inbox?.kinds ?? {}))]],
])('no two apps have the same %s', (_, names) => {
  expect(taken(names)).toEqual([])
})

test('an anchor means the subject of one app at most', () => {
  for (const { subject } of APPS) {
    const anchor = { type: subject?.noun, id: 'x_1' }
    const found = APPS.filter((other) => (other.subject?.idOf(anchor) ?? null) !== null)
    expect(found.length).toBeLessThanOrEqual(1)
  }
})

// A fragment would match every path: `<Switch>` takes its first child without a path for the last resort.
test('each route of an app is a route with a path', () => {
  const routes = APPS.flatMap((app) => app.routes)
  expect(routes.filter((route) => route.type !== Route || pathOf(route) === 'undefined')).toEqual([])
})
