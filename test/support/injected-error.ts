/**
 * An error that a test injects into a Durable Object. The worker prints what an object throws:
 * scripts/worker-reporter.ts hides only this class, and fails the run at any other exception.
 */
export class InjectedError extends Error {
  // On the prototype, because the stack is captured before fields are set.
  override get name(): string {
    return 'InjectedError'
  }
}
