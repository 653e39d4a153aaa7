/** What is done on a page, as its list shows it. */
import { describe, expect, it } from 'vitest'
import { withAction, type PageAction } from '@outlast/sdk'

const action = (id: string, state: PageAction['state'] = 'waiting'): PageAction => ({
  id,
  page_id: 'pag_1',
  name: 'refresh',
  data: {},
  state,
  by: 'usr_1',
  by_name: 'Ada',
  run_id: null,
  created_at: '2026-11-22T00:00:00.000Z',
})

describe('the actions of a page', () => {
  it('has a new one in front', () => {
    expect(withAction([action('act_1')], action('act_2')).map(({ id }) => id)).toEqual(['act_2', 'act_1'])
  })
  it('shows one that changed where it was', () => {
    const changed = withAction([action('act_2'), action('act_1')], action('act_1', 'done'))
    expect(changed.map(({ id, state }) => [id, state])).toEqual([
      ['act_2', 'waiting'],
      ['act_1', 'done'],
    ])
  })
  it('puts one that was told late into its place', () => {
    const all = withAction([action('act_3'), action('act_1')], action('act_2'))
    expect(all.map(({ id }) => id)).toEqual(['act_3', 'act_2', 'act_1'])
    expect(withAction([action('act_3')], action('act_2')).map(({ id }) => id)).toEqual(['act_3', 'act_2'])
  })
})
