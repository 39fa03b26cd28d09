import { tsImport } from 'tsx/esm/api'

let running

/** Starts what the test files share. Jest would load TypeScript here as CommonJS, tsx as it is. */
export default async function setUp({ testPathPatterns }) {
  const { startShared } = await tsImport('./shared.ts', import.meta.url)
  running = await startShared(testPathPatterns.patterns)
}

export async function stopShared() {
  await running?.stop()
}
