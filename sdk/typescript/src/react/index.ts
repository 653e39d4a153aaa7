export { OutlastProvider, useClient } from './context.tsx'
export * from './hooks.ts'
