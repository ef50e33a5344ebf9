/**
 * For files whose jobs are composed, at their top. The service loads the compositor at the first one, which is too late
 * to spare it the slow access to exports (test/support/setup.ts).
 */
export const loadCompositor = () =>
  Promise.all([import('@try-on/compositor'), import('@try-on/compositor/worker')])
