/** Colours for code. Loaded when the first code block is shown; each language when it is first met. */
import { createHighlighterCore, type HighlighterCore, type LanguageInput, type ThemedToken } from 'shiki/core'
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript'

export type Token = Pick<ThemedToken, 'content' | 'htmlStyle'>

const LANGUAGES: Record<string, () => LanguageInput> = {
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

let made: Promise<HighlighterCore> | null = null

const highlighter = (): Promise<HighlighterCore> =>
  (made ??= createHighlighterCore({
    engine: createJavaScriptRegexEngine({ forgiving: true }),
    themes: [import('shiki/themes/github-light-default.mjs'), import('shiki/themes/github-dark-default.mjs')],
    langs: [],
  }))

/** Lines of coloured pieces; null for a language that is not known. `language` may be a file's ending. */
export async function colour(code: string, language: string): Promise<Token[][] | null> {
  const name = OTHER_NAMES[language.toLowerCase()] ?? language.toLowerCase()
  const load = LANGUAGES[name]
  if (load === undefined) return null
  const core = await highlighter()
  await core.loadLanguage(load())
  const themes = { light: 'github-light-default', dark: 'github-dark-default' }
  return core.codeToTokens(code, { lang: name, themes }).tokens
}
