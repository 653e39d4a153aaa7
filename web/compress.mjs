/** Puts a `.br` and a `.gz` beside each file of a built app that gains by it: `node compress.mjs FOLDER`. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const TEXT = /\.(?:css|html|js|json|mjs|svg|txt|webmanifest)$/
const LEAST_BYTES = 1024
const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT, BROTLI_MAX_QUALITY } = constants

const [, , folder] = argv
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name)
  if (!entry.isFile() || !TEXT.test(entry.name)) continue
  const content = readFileSync(path)
  if (content.length < LEAST_BYTES) continue
  const params = { [BROTLI_PARAM_QUALITY]: BROTLI_MAX_QUALITY, [BROTLI_PARAM_SIZE_HINT]: content.length }
  keep(`${path}.br`, brotliCompressSync(content, { params }), content)
  keep(`${path}.gz`, gzipSync(content, { level: 9 }), content)
}

function keep(path, compressed, content) {
  if (compressed.length < content.length) writeFileSync(path, compressed)
}
