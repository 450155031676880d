import { defineConfig } from "vite";

// The page goes into the Python package; nothing is inlined, so that the server's policy needs no exception.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/certifit/lab/page",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
  },
});
