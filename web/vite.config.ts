import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const server = process.env['OUTLAST_URL'] ?? 'http://127.0.0.1:8400'

export default defineConfig({
  base: '/',
  plugins: [react(), tailwindcss()],
  resolve: {
    alias: { '@outlast/sdk': here('../sdk/typescript/src'), '@': here('./src') },
    dedupe: ['react', 'react-dom'],
  },
  build: { outDir: here('../src/outlast/_web'), emptyOutDir: true, chunkSizeWarningLimit: 700 },
  server: {
    fs: { allow: [here('..')] },
    proxy: { '/v1': { target: server, changeOrigin: true, headers: { origin: server } } },
  },
  // Its languages are chunks of their own, as of the page.
  worker: { format: 'es' },
  test: { include: ['tests/**/*.test.{ts,tsx}'], environment: 'node' },
})
