/** Languages with syntax colours. Each loads when it is first used. */
import type { LanguageInput } from 'shiki/core'

export const LANGUAGES: Record<string, () => LanguageInput> = {
  bash: () => import('shiki/langs/bash.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
}

const OTHER_NAMES: Record<string, string> = {
  cjs: 'javascript',
  console: 'bash',
  htm: 'html',
  js: 'javascript',
  jsonc: 'json',
  jsonl: 'json',
  jsx: 'tsx',
  md: 'markdown',
  mjs: 'javascript',
  mts: 'typescript',
  py: 'python',
  rs: 'rust',
  sh: 'bash',
  shell: 'bash',
  ts: 'typescript',
  yml: 'yaml',
}

/** The name in `LANGUAGES` for a code block's language or a file extension, or undefined. */
export function languageOf(name: string): string {
  const small = name.toLowerCase()
  return OTHER_NAMES[small] ?? small
}
