/**
 * Builds the dashboard: one script and one style sheet with fixed names, loaded by `index.html`.
 * `npx vite --config src/ui/vite.config.mjs` serves it with changes at once, in front of a daemon on port 8111.
 */
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));
const daemon = process.env['DERBENCH_URL'] ?? 'http://127.0.0.1:8111';

export default {
  configFile: false,
  root,
  base: '/',
  publicDir: false,
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    outDir: fileURLToPath(new URL('../../dist/ui', import.meta.url)),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    cssCodeSplit: false,
    rollupOptions: {
      output: {
        entryFileNames: 'app.js',
        assetFileNames: 'app[extname]',
        codeSplitting: false,
      },
    },
  },
  // the daemon accepts requests from its own origin only
  server: {
    proxy: {
      '/api': { target: daemon, ws: true, changeOrigin: true, headers: { origin: daemon } },
      '/openapi.json': daemon,
    },
  },
};
