import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// @ts-expect-error: plain JavaScript
import outlast from "./outlast/plugin.mjs";
import manifest from "./package.json" with { type: "json" };

// The app's domain in development, in addition to localhost.
const domain = process.env.OUTLAST_PREVIEW_DOMAIN?.split(":")[0];

export default defineConfig({
  plugins: [outlast(), react(), tailwindcss()],
  resolve: { alias: { "@": import.meta.dirname } },
  cacheDir: ".vite",
  optimizeDeps: {
    // All of them at once: a dependency that is found later reloads the page.
    include: [
      ...Object.keys(manifest.dependencies).map((name) => (name === "motion" ? "motion/react" : name)),
      "react-dom/client",
      "react/jsx-dev-runtime",
      "react/jsx-runtime",
    ],
  },
  server: {
    host: "127.0.0.1",
    port: 3000,
    strictPort: true,
    allowedHosts: [".localhost", ...(domain ? [`.${domain}`] : [])],
  },
  preview: { host: "127.0.0.1", port: 3000 },
});
