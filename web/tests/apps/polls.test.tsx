import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { prerender } from 'react-dom/static'
import { expect, test } from 'vitest'
import { Router, Switch } from 'wouter'
import { APPS } from '@/apps'
import { inboxKinds, placeOf } from '@/features/inbox/inbox-kinds'
import { listPages } from '@/features/shell/list-pages'
import { threadHref } from '@/features/threads/subjects'
import { threadViewsQuery } from '@/features/threads/thread-views'
import { polls } from '../../../tests/apps/polls/web'
import { pollsQuery } from '../../../tests/apps/polls/web/polls-page'
import { item } from '../inbox-items'

const WITH_POLLS = [...APPS, polls]

async function rendered(path: string, queries: QueryClient): Promise<string> {
  const { prelude } = await prerender(
    <QueryClientProvider client={queries}>
      <Router ssrPath={path}>
        <Switch>{polls.routes}</Switch>
      </Router>
    </QueryClientProvider>,
  )
  return new Response(prelude).text()
}

test('an app outside of the web app shows its page at its own path', async () => {
  const queries = new QueryClient()
  const votes = { usr_1: 'Pizza', usr_2: 'Soup', usr_3: 'Pizza' }
  const poll = { id: 'pol_1', title: 'Lunch?', options: ['Pizza', 'Soup'], votes }
  queries.setQueryData(pollsQuery('prj_1').queryKey, [poll])
  const html = await rendered('/projects/prj_1/polls', queries)
  expect(html).toContain('<h2>Lunch?</h2>')
  expect(html).toContain('Pizza: 2 votes')
  expect(html).toContain('Soup: 1 vote')
})

test('its list page stands in the sidebar and in the command palette before the files', () => {
  expect(
    listPages(WITH_POLLS)
      .map(({ label }) => label)
      .slice(-3),
  ).toEqual(['Polls', 'Files', 'Schedules'])
})

test('its inbox items have a title and lead to it', () => {
  const vote = item({ kind: 'poll', text: 'Lunch?' })
  expect(inboxKinds(WITH_POLLS)['poll']?.title(vote)).toBe('Ada asks you to vote')
  expect(placeOf(WITH_POLLS, vote)).toMatchObject({ title: 'Lunch?', href: '/projects/prj_1/polls' })
})

test('threads about a poll are its own', () => {
  expect(threadHref(WITH_POLLS, { id: 'thr_1', anchor: { type: 'poll', id: 'pol_1' } })).toBe('/threads/thr_1')
})

test('its agent draws answers, and its tool asks every time', async () => {
  const views = await threadViewsQuery(WITH_POLLS).queryFn?.({} as never)
  expect(views?.agents['poll']?.Answer).toBeDefined()
  expect(views?.decidedEachTime.has('offer_options')).toBe(true)
  expect(views?.agents['screen']).toBeDefined()
})
