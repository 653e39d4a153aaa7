import { describe, expect, it } from 'vitest'
import type { Agent } from '@outlast/sdk'
import { toggled } from '@/features/projects/agents-dialog'
import { agentOf, namedAgent } from '@/features/threads/agent-choice'

const agent = (name: string, more: Partial<Agent> = {}): Agent => ({
  name,
  title: name,
  description: '',
  icon: '',
  origin: 'own',
  default: name === 'chat',
  usable: true,
  ...more,
})
const AGENTS = [agent('chat'), agent('support'), agent('triage', { usable: false })]

describe('the agent of a new thread', () => {
  it('is the last choice if it may be used, else the first that may', () => {
    expect(agentOf(AGENTS, 'support')?.name).toBe('support')
    expect(agentOf(AGENTS, 'triage')?.name).toBe('chat')
    expect(agentOf(AGENTS, 'gone')?.name).toBe('chat')
    expect(agentOf([], 'support')).toBeNull()
  })
})

describe('the agent of an answer', () => {
  it('is named unless it is the default one or not to be chosen', () => {
    expect(namedAgent(AGENTS, 'support')?.title).toBe('support')
    expect(namedAgent(AGENTS, 'chat')).toBeNull()
    expect(namedAgent(AGENTS, 'screen')).toBeNull()
    expect(namedAgent(AGENTS, null)).toBeNull()
  })
})

describe('the allowed agents of a project', () => {
  it('become a list when one is switched off, and all again when none is off', () => {
    expect(toggled(null, ['chat', 'support'], 'chat', false)).toEqual(['support'])
    expect(toggled(['support'], ['chat', 'support'], 'chat', true)).toBeNull()
    expect(toggled(['gone', 'chat'], ['chat', 'support'], 'chat', false)).toEqual(['gone'])
  })
})
