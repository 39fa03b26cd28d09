import tailwindcss from '@tailwindcss/vite'
import { defineConfig } from 'vite'

/** Static files for `/dashboard`. Hashed files are in `assets/`; browsers revalidate all other files. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/dashboard/',
  plugins: [tailwindcss()],
  build: {
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // The content security policy forbids `data:` URLs, so no file is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    emptyOutDir: true,
  },
})
