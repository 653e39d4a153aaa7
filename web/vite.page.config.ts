import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** The page runtime: one plain script and one style sheet, for documents that know nothing of the app. */
export default defineConfig({
  base: '/',
  publicDir: false,
  resolve: { alias: { '@outlast/sdk': here('../sdk/typescript/src') } },
  build: {
    outDir: here('../src/outlast/_web/page'),
    emptyOutDir: true,
    lib: {
      entry: here('./src/page-runtime/main.ts'),
      name: 'OutlastPage',
      formats: ['iife'],
      fileName: () => 'page.js',
      cssFileName: 'page',
    },
  },
})
