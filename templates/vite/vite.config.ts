import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// @ts-expect-error: plain JavaScript
import outlast from "./outlast/plugin.mjs";

// Host names under which the app is seen while it is being built, beside localhost.
const hosts = (process.env.OUTLAST_PREVIEW_HOSTS ?? "").split(",").filter(Boolean);

export default defineConfig({
  plugins: [outlast(), react(), tailwindcss()],
  resolve: { alias: { "@": import.meta.dirname } },
  cacheDir: ".vite",
  server: {
    host: "127.0.0.1",
    port: 3000,
    strictPort: true,
    allowedHosts: [".localhost", ...hosts.map((host) => host.replace(/^\*/, ""))],
  },
  preview: { port: 3000 },
});
