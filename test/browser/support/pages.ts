// Every page of the console. test/console/pages-list.test.ts compares this list with the routes.

/** Pages below `/console/{org_id}`. A parameter is replaced by `placeholders`. */
export const ORGANISATION_PAGES = [
  '',
  '/playground',
  '/jobs',
  '/jobs/:jobId',
  '/requests',
  '/requests/:requestId',
  '/credits',
  '/billing',
  '/settings/organisation',
  '/settings/api-keys',
  '/settings/api-keys/:keyId',
  '/settings/webhooks',
  '/settings/webhooks/deliveries',
  '/settings/webhooks/endpoints/new',
  '/settings/webhooks/endpoints/:id',
  '/settings/webhooks/:eventId',
  '/settings/workspaces',
  '/settings/team',
  '/settings/team/members/:userId',
  '/settings/team/members/:userId/remove',
  '/settings/audit-log',
  '/not-found',
]

/** Pages of the user, and of guests. */
export const USER_PAGES = [
  '/console/account',
  '/console/account/delete',
  '/console/account/two-factor',
  '/console/account/email/confirm',
  '/console/invitations',
  '/console/dev/mail',
  '/console/onboarding/new',
]
export const GUEST_PAGES = [
  '/console/sign-in',
  '/console/forgot',
  '/console/reset?token=expired',
  '/console/verify?token=expired',
  '/console/invitations/expired',
  '/pricing',
]

/** The pages that lead from the sign-up to the first API key, in this order. */
export const SIGN_UP_PAGES = [
  '/console/sign-up',
  '/console/check-inbox',
  '/console/verify',
  '/console/onboarding/name',
  '/console/onboarding/region',
  '/console/onboarding/workspace',
  '/console/onboarding/key',
]

/** Routes that redirect, return a part of a page or a file, or whose pages other tests open. */
export const OTHER_ROUTES = [
  /\/live$/,
  /^\/sandbox\//, // billing.test.ts
  /\/billing\/payments\/:paymentId$/, // billing.test.ts
  /\/billing\/portal\/return$/,
  /^\/console\/account\/(export|keep|password)$/,
  /^\/console\/account\/(notifications|passkeys|two-factor\/set-up)$/,
  /^\/console\/onboarding$/,
  /^\/console\/resend$/,
  /^\/console\/sign-in\/(code|passkey)$/, // account.test.ts
  // Redirects of formRedirects (src/console/console.tsx).
  /:(form|action)$/,
  /\.csv$/,
  /\/search$/,
  /\/jobs\/export$/,
  /\/jobs\/:jobId\/(thumbnail|download|run-again)$/,
  /\/playground\/sample$/,
  /\/settings\/team\/invitations$/,
  /\/settings\/team\/members\/:userId\/role$/,
  /\/settings\/webhooks\/(deliveries\/resend|endpoints)$/,
  /\/settings\/webhooks\/(url|reveal|rotate|test|endpoints\/enable)$/,
]
