// Free credits are granted once per company: per registrable domain of the email address that creates
// an organisation. The table free_credit_claims is the source of truth.
import { sql } from 'drizzle-orm'
import { parse } from 'tldts'
import { database } from '../platform/db/database.ts'
import { freeCreditClaims } from '../platform/db/schema.ts'
import { settingsOf } from '../platform/settings.ts'
import { sha256 } from '../platform/signing/sha256.ts'
import { domainOf, isFreeEmail, normaliseAddress } from './email-address.ts'

/** Reserved names that belong to no company (RFC 2606, RFC 6761). */
const RESERVED_TLDS = new Set(['test', 'example', 'invalid', 'localhost'])
const RESERVED_DOMAINS = new Set(['example.com', 'example.net', 'example.org'])

/**
 * Claims the free credits for an organisation. Idempotent: after a crash between claim and grant, the
 * caller repeats both.
 * @returns whether the organisation has the claim
 */
export async function claimFreeCredits(
  env: Env,
  { email, organisationId }: { email: string; organisationId: string },
): Promise<boolean> {
  // Anyone can create consumer addresses. Where they cannot sign up, invited ones get no credits.
  if (isFreeEmail(email) && !settingsOf(env).allowFreeEmail) return false
  const [claim] = await database(env)
    .insert(freeCreditClaims)
    .values({ claimant: claimantOf(email), organisationId, createdAt: new Date() })
    // Changes nothing, but makes RETURNING include the existing row.
    .onConflictDoUpdate({
      target: freeCreditClaims.claimant,
      set: { claimant: sql`${freeCreditClaims.claimant}` },
    })
    .returning({ organisationId: freeCreditClaims.organisationId })
  return claim?.organisationId === organisationId
}

/** A registrable domain, or the hash of the mailbox's address if the domain belongs to no company. */
export function claimantOf(email: string): string {
  const { domain, publicSuffix, isIp } = parse(domainOf(email))
  const hasOwner =
    domain && !isIp && !RESERVED_TLDS.has(publicSuffix ?? '') && !RESERVED_DOMAINS.has(domain)
  if (hasOwner && !isFreeEmail(email)) return domain
  return `address:${sha256(normaliseAddress(email)).toString('hex')}`
}
