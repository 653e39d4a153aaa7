import type { InboxEntry } from '@/lib/apps'

/** A mention by Ada, or what `more` makes of it. */
export const item = (more: Partial<InboxEntry>): InboxEntry => ({
  kind: 'mention',
  id: 'men_1',
  project_id: 'prj_1',
  text: 'Look at this',
  created_at: '2026-11-22T10:00:00Z',
  by: 'usr_ada',
  by_name: 'Ada',
  thread_id: null,
  thread_title: null,
  message_id: null,
  run_id: null,
  tool: null,
  document_id: null,
  document_title: null,
  section_id: null,
  block_id: null,
  comment_id: null,
  ...more,
})
