// Reads an organisation's request log.
import { env } from 'cloudflare:workers'
import { vi } from 'vitest'
import type { RequestEntry } from '../../src/credits/request-log.ts'

/** Waits until the log has `count` entries. @returns them, oldest first */
export const logged = ({ orgId }: { orgId: string }, count: number): Promise<RequestEntry[]> =>
  vi.waitUntil(
    async () => {
      const { entries } = await env.ORGANISATION.getByName(orgId).readRequests({
        filter: {},
        limit: 1_000,
        direction: 'older',
      })
      return entries.length >= count ? entries.reverse() : undefined
    },
    { interval: 50 },
  )
