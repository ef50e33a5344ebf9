// The mistakes that a build of the documentation site found, for the author of the guides.

/** The message lists all mistakes. */
export class DocsError extends Error {
  override readonly name = 'DocsError'

  constructor(problems: string[]) {
    super(
      `The documentation site was not built:\n${problems.map((each) => `  ${each}`).join('\n')}`,
    )
  }
}
