import type { NextConfig } from "next";

// The domain under which the app is seen while it is being built, beside localhost.
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
