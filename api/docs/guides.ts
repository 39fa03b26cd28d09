import { Router } from 'express'

/** What the pages of `docs/` tell those who call the service, in the order in which one needs it. */
export const guides: readonly [file: string, about: string][] = [
  ['quickstart.md', 'from nothing to a completed intent, in TypeScript, Python and curl'],
  ['guides/errors.md', 'refused calls, failed intents, and where the money is'],
  ['guides/idempotency.md', 'how nothing is done twice'],
  ['guides/testing.md', 'failures on demand'],
  ['webhooks.md', 'being told what happens: endpoints, verification, retries'],
  ['mcp.md', 'for agents: the same calls as tools of the Model Context Protocol, at /mcp'],
  ['errors.md', 'every code and reason'],
  ['testnet.md', 'running the service on public testnets'],
]

const TEXT = 'text/plain; charset=utf-8'

/**
 * The guides as they are written, in Markdown: for a reader beside the API, and for language models. Links between
 * them lead from one to the other here as well.
 *
 * @param folder - Where they are; one that is not there answers as any other unknown path.
 */
export function guideRoutes(folder: string, cache: string): Router {
  const router = Router()
  for (const [file] of guides) {
    router.get(`/docs/${file}`, (_request, response, next) => {
      response.set('Cache-Control', cache).set('Content-Type', TEXT)
      response.sendFile(file, { root: folder, cacheControl: false }, (error) => {
        if (error) next()
      })
    })
  }
  return router
}
