export * from './chat.ts'
export * from './code.ts'
export { OutlastProvider, useClient } from './context.tsx'
export * from './hooks.ts'
