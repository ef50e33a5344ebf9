// The code of docs/guides/webhooks.md that verifies webhooks without packages, for the console.

/** Where the guide has the code: the block of a language below a heading. */
const SOURCES = [
  { label: 'Node.js', heading: 'Node.js', language: 'js', index: 0 },
  // The first one uses the Python client.
  { label: 'Python', heading: 'Python', language: 'python', index: 1 },
  { label: 'PHP', heading: 'PHP', language: 'php', index: 0 },
  { label: 'Go', heading: 'Go', language: 'go', index: 0 },
] as const

/** @throws Error when the guide has no such code */
export const webhookSnippets = (guide: string): { label: string; code: string }[] =>
  SOURCES.map(({ label, heading, language, index }) => {
    const section = guide.split(/^### /m).find((text) => text.startsWith(`${heading}\n`)) ?? ''
    const blocks = section.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))
    const code = Array.from(blocks, ([, text = '']) => text)[index]
    if (!code) throw new Error(`docs/guides/webhooks.md has no code for ${label}`)
    return { label, code: code.trimEnd() }
  })
