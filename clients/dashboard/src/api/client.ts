import { QueryCache, QueryClient } from '@tanstack/react-query'
import { isFailure, isRefusal } from './call.js'

/** A rejected call fails again. A lost response or a server error may be temporary. */
const isRetryable = (error: Error) => !isRefusal(error)

const RETRIES = 2
const FRESH_MS = 5_000

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    // The session has ended. Reloading it leads to the sign-in page.
    onError: (error, query) => {
      if (!isFailure(error, 'UNAUTHORIZED') || query.queryKey[0] === 'session') return
      void queryClient.invalidateQueries({ queryKey: ['session'] })
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (count, error) => count < RETRIES && isRetryable(error),
    },
  },
})

/** Drops what this tab holds of a user: answers, and the key that the documentation fills in. */
export function forgetUser(): void {
  queryClient.clear()
  sessionStorage.clear()
}
