import { expect, test } from 'vitest'
import type { McpTool } from '@outlast/sdk'
import { nameFor, riskOf, waitingIn } from '@/features/connections/mcp'

const tool = (more: Partial<McpTool>) =>
  ({ name: 'find', state: 'new', digest: 'd1', annotations: {}, ...more }) as McpTool

test.each([
  ['https://mcp.linear.app/mcp', 'linear'],
  ['https://api.githubcopilot.com/mcp/', 'githubcopilot'],
  ['http://localhost:3000/mcp', 'localhost'],
  ['http://127.0.0.1:3000/mcp', ''],
  ['linear', ''],
  ['npx -y @modelcontextprotocol/server-everything', 'everything'],
  ['uvx mcp-server-time==1.2 --local-timezone UTC', 'time'],
])('a server at %s is called %s unless people say otherwise', (url, name) => {
  expect(nameFor(url)).toBe(name)
})

test.each([
  [{ readOnlyHint: true }, false, 'Only reads'],
  [{ readOnlyHint: false, destructiveHint: false }, true, 'May change data · asks first'],
  [{}, true, 'May change or delete data · asks first'],
])('the hints %o say what a call may do', (annotations, asks, words) => {
  expect(riskOf(tool({ annotations, asks }))).toBe(words)
})

test('new and changed tools wait to be looked at', () => {
  const tools = [
    tool({}),
    tool({ name: 'file', state: 'changed', digest: 'd2' }),
    tool({ name: 'old', state: 'gone' }),
    tool({ name: 'ok', state: 'allowed' }),
  ]
  expect(waitingIn(tools)).toEqual({ find: 'd1', file: 'd2' })
})
