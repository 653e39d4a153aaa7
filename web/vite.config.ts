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
    // Found from here also for what lies outside: the SDK, and the apps of tests.
    dedupe: ['react', 'react-dom', 'wouter', 'lucide-react', '@tanstack/react-query'],
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
