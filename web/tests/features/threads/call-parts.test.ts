import { expect, it } from 'vitest'
import type { ImagePart, Part, SourcesPart, ToolCallPart } from '@outlast/sdk'
import { groupCallParts } from '@/features/threads/call-parts'

const call = (id: string, step = 1): ToolCallPart => ({
  type: 'tool_call',
  id: `part_${id}_${step}`,
  step,
  call_id: id,
  tool: 'chart',
  arguments: '{}',
  status: 'done',
  output: '',
  result: 'ok',
  approval_id: null,
  decided_by: null,
  duration_s: null,
})

const image = (id: string, callId: string, step = 1): ImagePart => ({
  type: 'image',
  id,
  step,
  attachment_id: `att_${id}`,
  media_type: 'image/png',
  name: 'Prices',
  width: 8,
  height: 6,
  file_name: '',
  call_id: callId,
})

const ids = (parts: Part[] | undefined): string[] => (parts ?? []).map(({ id }) => id)

it('shows images with the call of their step that returned them, in order', () => {
  const { parts, images } = groupCallParts([
    call('a'),
    image('1', 'a'),
    image('2', 'a'),
    call('a', 2),
    image('3', 'a', 2),
  ])
  expect(ids(parts)).toEqual(['part_a_1', 'part_a_2'])
  expect(ids(images.get('part_a_1'))).toEqual(['1', '2'])
  expect(ids(images.get('part_a_2'))).toEqual(['3'])
})

it('leaves other images, and those whose call is not there, where they are', () => {
  const given = [call('a'), image('shown', ''), image('lost', 'gone')]
  const { parts, images } = groupCallParts(given)
  expect(parts).toEqual(given)
  expect(images.size).toBe(0)
})

it('shows the sources of a result with its call', () => {
  const sources: SourcesPart = { type: 'sources', id: '1', step: 1, call_id: 'a', sources: [] }
  const grouped = groupCallParts([call('a'), sources, { ...sources, id: '2', call_id: 'gone' }])
  expect(ids(grouped.parts)).toEqual(['part_a_1', '2'])
  expect(grouped.sources.get('part_a_1')).toEqual(sources)
})
