/** The kind of a file, by its name. Pure. */
import {
  Braces,
  FileCode2,
  FileImage,
  FileText,
  FileType,
  Globe,
  Palette,
  Settings2,
  type LucideIcon,
} from 'lucide-react'

interface FileKind {
  icon: LucideIcon
  /** A class that colours the icon. */
  look: string
}

const CODE = { icon: FileCode2, look: 'text-[#3178c6] dark:text-[#5a9fe6]' }
const COMPONENT = { icon: FileCode2, look: 'text-[#0d7fa5] dark:text-[#5ccfe6]' }
const SCRIPT = { icon: FileCode2, look: 'text-[#a68500] dark:text-[#e5c84e]' }
const STYLE = { icon: Palette, look: 'text-[#8a4fc7] dark:text-[#b48ae0]' }
const DATA = { icon: Braces, look: 'text-[#a06a00] dark:text-[#d8a657]' }
const IMAGE = { icon: FileImage, look: 'text-[#1c7f53] dark:text-[#55c28d]' }
const PAGE = { icon: Globe, look: 'text-[#c2410c] dark:text-[#f08d5c]' }
const WORDS = { icon: FileText, look: 'text-muted' }
const FONT = { icon: FileType, look: 'text-muted' }
const SETTINGS = { icon: Settings2, look: 'text-faint' }

const BY_ENDING: Record<string, FileKind> = {
  ts: CODE,
  mts: CODE,
  tsx: COMPONENT,
  jsx: COMPONENT,
  js: SCRIPT,
  mjs: SCRIPT,
  cjs: SCRIPT,
  py: CODE,
  css: STYLE,
  scss: STYLE,
  json: DATA,
  yaml: DATA,
  yml: DATA,
  toml: DATA,
  html: PAGE,
  md: WORDS,
  txt: WORDS,
  woff: FONT,
  woff2: FONT,
  ttf: FONT,
  png: IMAGE,
  jpg: IMAGE,
  jpeg: IMAGE,
  gif: IMAGE,
  webp: IMAGE,
  avif: IMAGE,
  svg: IMAGE,
  ico: IMAGE,
}

const IMAGE_TYPES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  svg: 'image/svg+xml',
  ico: 'image/x-icon',
}

export const endingOf = (path: string): string => /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? ''

export function kindOf(path: string): FileKind {
  const name = path.split('/').at(-1) ?? ''
  if (/^\.|\.config\.|^tsconfig/.test(name)) return SETTINGS
  return BY_ENDING[endingOf(path)] ?? WORDS
}

/** The media type of an image, or null for other files. */
export const imageType = (path: string): string | null => IMAGE_TYPES[endingOf(path)] ?? null
