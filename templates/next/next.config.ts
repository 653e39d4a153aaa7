import type { NextConfig } from "next";

// Host names under which the app is seen while it is being built, beside localhost.
const hosts = (process.env.OUTLAST_PREVIEW_HOSTS ?? "").split(",").filter(Boolean);

const config: NextConfig = {
  allowedDevOrigins: ["*.preview.localhost", "*.localhost", ...hosts],
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
