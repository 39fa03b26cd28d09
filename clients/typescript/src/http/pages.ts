/** `nextCursor` is null on the last page. */
export type Page<Item> = { data: Item[]; hasMore: boolean; nextCursor: string | null }

/** `await` returns one page. `for await` iterates over all entries from there on. */
export type List<Item> = PromiseLike<Page<Item>> & AsyncIterable<Item>

/** Parameters of every list. `limit`: entries per page, 1 to 100. */
export type PageParams = { limit?: number | undefined; cursor?: string | undefined }

/** The largest page. All pages cost the same. */
const LONGEST_PAGE = 100

/**
 * @param read - Reads one page.
 * @param limit - Entries per page during iteration.
 */
export function createList<Item>(
  read: (part: PageParams) => Promise<Page<Item>>,
  limit = LONGEST_PAGE,
): List<Item> {
  let first: Promise<Page<Item>> | undefined
  return {
    then(onPage, onError) {
      first ??= read({})
      return first.then(onPage, onError)
    },
    async *[Symbol.asyncIterator]() {
      let page = await read({ limit })
      yield* page.data
      while (page.hasMore && page.nextCursor !== null) {
        page = await read({ limit, cursor: page.nextCursor })
        yield* page.data
      }
    },
  }
}
