import tailwindcss from '@tailwindcss/vite'
import { defineConfig } from 'vite'

/** Static files for `/dashboard`. Whatever is hashed stands in `assets/`, the rest is asked for anew each time. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/dashboard/',
  plugins: [tailwindcss()],
  build: {
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // The page's policy has no room for `data:` fonts or scripts, and small files are quick.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    emptyOutDir: true,
  },
})
