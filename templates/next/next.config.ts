import type { NextConfig } from "next";

// The app's domain in development, in addition to localhost.
const domain = process.env.OUTLAST_PREVIEW_DOMAIN?.split(":")[0];

const config: NextConfig = {
  allowedDevOrigins: ["localhost", "*.localhost", "*.preview.localhost", ...(domain ? [domain, `*.${domain}`] : [])],
  devIndicators: false,
  experimental: { useTypeScriptCli: true },
  turbopack: {
    root: import.meta.dirname,
    rules: {
      "*.tsx": {
        condition: { all: ["development", { not: "foreign" }] },
        loaders: ["./outlast/marks.cjs"],
      },
    },
  },
};

export default config;
