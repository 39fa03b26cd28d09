import { register } from 'tsx/esm/api'

let running

/** Starts what the test files share. Jest would load TypeScript here as CommonJS, tsx as it is. */
export default async function setUp({ testPathPatterns }) {
  const unregister = register()
  try {
    const { startShared } = await import('./shared.ts')
    running = await startShared(testPathPatterns.patterns)
  } finally {
    await unregister()
  }
}

export async function stopShared() {
  await running?.stop()
}
