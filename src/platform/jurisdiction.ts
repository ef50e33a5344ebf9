// Where Cloudflare may run and store the databases, the bucket and the Organisations of a deployment
// (developers.cloudflare.com/durable-objects/reference/data-location). It cannot be changed later.

/** Those that D1, R2 and Durable Objects have in common. */
export const JURISDICTIONS = ['eu', 'us', 'fedramp'] as const
export type Jurisdiction = (typeof JURISDICTIONS)[number]

export const JURISDICTION_PROBLEM = `must be ${JURISDICTIONS.join(' or ')}`
