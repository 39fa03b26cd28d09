import { QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiFailure, isFailure } from './call.js'

/** What was refused is refused again; what did not come may come yet. */
const isWorthAnother = (error: Error) =>
  !(error instanceof ApiFailure) || error.status === 0 || error.status >= 500

const RETRIES = 2
const FRESH_MS = 5_000

/** All that the page knows. */
export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    // The session has ended elsewhere: asked for anew, it leads to the sign-in.
    onError: (error, query) => {
      if (!isFailure(error, 'UNAUTHORIZED') || query.queryKey[0] === 'session') return
      void queryClient.invalidateQueries({ queryKey: ['session'] })
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (count, error) => count < RETRIES && isWorthAnother(error),
    },
  },
})
