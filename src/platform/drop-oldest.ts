/** Deletes the oldest entries of a cache beyond `maxEntries`. An entry that is set again keeps its place. */
export function dropOldest(cache: Map<string, unknown> | Set<string>, maxEntries: number): void {
  for (const key of cache.keys()) {
    if (cache.size <= maxEntries) return
    cache.delete(key)
  }
}
