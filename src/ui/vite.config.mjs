/**
 * Builds the dashboard: `index.html`, and in `assets/` one style sheet and the scripts, whose names contain the hash of
 * their content. Dynamic imports divide the scripts.
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
        entryFileNames: 'assets/app-[hash].js',
        chunkFileNames: 'assets/[name]-[hash].js',
        assetFileNames: 'assets/app-[hash][extname]',
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
