// Every limit on requests: what is counted, for whom, how much in what time. http/route-budgets.ts names the
// budget of each route. docs/limits.md is generated from both by `npm run limits`.

const MINUTE = 60
const QUARTER_HOUR = 15 * MINUTE
const HOUR = 60 * MINUTE

/**
 * Whom a limit counts for.
 * - `network`: an IPv4 address, or the /64 of an IPv6 address, which one customer has
 * - `browser`: a browser that has signed in to the account before
 * - `mailbox`: an email address
 * - `pair`: an email address and a network
 */
export type Subject = 'network' | 'user' | 'organisation' | 'browser' | 'mailbox' | 'pair'

export interface Limit {
  counts: string
  of: Subject
  max: number
  windowSeconds: number
  /**
   * Where the count is.
   * - `isolate`: in memory, refilled steadily. Protects the isolate that does the work; costs no I/O.
   * - `database`: a row of D1, for all isolates. For attempts and emails.
   * - `edge`: the rate-limit binding, for each location of the network.
   * - `object`: the memory of the Organisation, exact.
   */
  at: 'isolate' | 'database' | 'edge' | 'object'
}

export interface Budget {
  /** What it is for, in the documentation. */
  title: string
  limits: readonly Limit[]
  /** What the documentation says besides. */
  note?: string
}

const inIsolate = (of: Subject, max: number, windowSeconds: number): Limit => ({
  counts: 'requests',
  of,
  max,
  windowSeconds,
  at: 'isolate',
})
const inDatabase = (counts: string, of: Subject, max: number, windowSeconds: number): Limit => ({
  counts,
  of,
  max,
  windowSeconds,
  at: 'database',
})
/** Wrong credentials, also in `ratelimits` of wrangler.toml. */
export const CREDENTIALS = { of: 'network', max: 100, windowSeconds: MINUTE, at: 'edge' } as const

const API_LIMITS: readonly Limit[] = [
  { counts: 'requests', of: 'organisation', max: 60, windowSeconds: MINUTE, at: 'object' },
  { ...CREDENTIALS, counts: 'unknown keys' },
]

/** The budgets that routes name. That of the network is taken before the body is read. */
export const ROUTE_BUDGETS = {
  api: {
    title: 'The API',
    limits: API_LIMITS,
    note: 'The number of requests follows the plan; 60 is that of `starter`. The Organisation checks key and limit in one call. Jobs and uploads also have a daily allowance in bytes. A network that sent too many unknown keys can still use keys that were valid before.',
  },
  webhookChange: {
    title: 'Changes of webhooks by the API',
    limits: [...API_LIMITS, inDatabase('changes', 'organisation', 300, HOUR)],
    note: 'As many as a user of the console can make. Each writes to the audit log. Deleting an endpoint does not count.',
  },
  operator: {
    title: 'The operator API',
    limits: [{ ...CREDENTIALS, counts: 'wrong tokens' }],
    note: 'Counted before the token is compared: a right token from such a network is rejected for the rest of the minute.',
  },
  payments: {
    title: 'Events of payment providers',
    limits: [inIsolate('network', 1_200, MINUTE)],
    note: 'Stripe sends a rejected event again.',
  },
  picture: { title: 'Signed pictures', limits: [inIsolate('network', 6_000, MINUTE)] },
  document: {
    title: 'Health, OpenAPI and prices',
    limits: [inIsolate('network', 600, MINUTE)],
  },
  unknown: {
    title: 'Addresses without a route',
    limits: [inIsolate('network', 600, MINUTE)],
  },
  guest: {
    title: 'Pages without a session',
    limits: [inIsolate('network', 600, MINUTE)],
  },
  guestForm: {
    title: 'Forms without a session',
    limits: [inIsolate('network', 300, MINUTE)],
    note: 'Sign-ins and emails have limits of their own, below.',
  },
  page: {
    title: 'Pages of the console',
    limits: [
      inIsolate('network', 1_800, MINUTE),
      inIsolate('user', 480, MINUTE),
      inIsolate('organisation', 960, MINUTE),
    ],
    note: 'An isolate serves two pages or thumbnails of an organisation at a time. The others wait for up to 10 seconds.',
  },
  thumbnail: {
    title: 'Thumbnails and downloads of the console',
    limits: [
      inIsolate('network', 3_600, MINUTE),
      inIsolate('user', 1_200, MINUTE),
      inIsolate('organisation', 2_400, MINUTE),
    ],
  },
  change: {
    title: 'Changes in the console',
    limits: [
      inIsolate('network', 1_200, MINUTE),
      inDatabase('forms', 'user', 300, HOUR),
      { ...inIsolate('organisation', 1_200, HOUR), counts: 'forms' },
    ],
  },
  protection: {
    title: 'Changes that reduce a risk',
    limits: [{ ...inIsolate('user', 120, MINUTE), counts: 'forms' }],
    note: 'For example to revoke a key, to remove a member and to sign out. Counted for the user alone, so they never fail because of requests of others.',
  },
  export: {
    title: 'Exports',
    limits: [inIsolate('network', 1_200, MINUTE), inDatabase('exports', 'user', 10, HOUR)],
  },
  consoleUpload: {
    title: 'Uploads of the console',
    limits: [inIsolate('network', 1_200, MINUTE), inDatabase('files', 'user', 120, HOUR)],
    note: 'The bytes count against the daily allowance of the organisation.',
  },
} satisfies Record<string, Budget>

export type RouteBudget = keyof typeof ROUTE_BUDGETS

const mails = (title: string): Budget => ({
  title,
  limits: [
    inDatabase('emails', 'browser', 5, HOUR),
    inDatabase('emails', 'pair', 5, HOUR),
    inDatabase('emails', 'network', 60, HOUR),
    inDatabase('emails', 'mailbox', 20, HOUR),
  ],
  note: 'A browser that has signed in to the account has its own limit, and the others do not apply to it.',
})

/** The budgets of single actions, in addition to that of their route. They need a field of the form. */
export const ACTION_BUDGETS = {
  'failed-sign-in': {
    title: 'Failed sign-ins',
    limits: [
      inDatabase('wrong passwords', 'browser', 20, QUARTER_HOUR),
      inDatabase('wrong passwords', 'pair', 10, QUARTER_HOUR),
      inDatabase('wrong passwords', 'network', 50, QUARTER_HOUR),
      inDatabase('wrong passwords', 'mailbox', 100, QUARTER_HOUR),
    ],
    note: 'A browser that has signed in to the account, or set its password by an emailed link, has its own limit, and the others do not apply to it.',
  },
  'sign-in': {
    title: 'Successful sign-ins',
    limits: [inDatabase('sign-ins', 'user', 60, HOUR)],
  },
  'new-sign-in-mail': {
    title: 'Emails about new sign-ins',
    limits: [inDatabase('emails', 'pair', 1, HOUR)],
    note: 'Here, the pair is a user and a network. An excess sends no email, and the sign-in succeeds.',
  },
  code: {
    title: 'Codes of the second factor',
    limits: [
      inDatabase('wrong codes', 'browser', 20, HOUR),
      inDatabase('wrong codes', 'user', 20, HOUR),
    ],
    note: 'A code has a million values. A wrong one also counts as a failed sign-in.',
  },
  password: {
    title: 'The password of a signed-in user',
    limits: [inDatabase('wrong passwords', 'user', 20, QUARTER_HOUR)],
  },
  'verification-mail': mails('Emails for a verification'),
  'reset-mail': mails('Emails for a new password'),
  'address-change-mail': mails('Emails for a new address'),
  'invitation-mail': {
    title: 'Invitations',
    limits: [
      inDatabase('emails', 'pair', 5, HOUR),
      inDatabase('emails', 'organisation', 60, HOUR),
      inDatabase('emails', 'mailbox', 20, HOUR),
    ],
    note: 'Here, the pair is an email address and an organisation.',
  },
} satisfies Record<string, Budget>

export type ActionBudget = keyof typeof ACTION_BUDGETS
