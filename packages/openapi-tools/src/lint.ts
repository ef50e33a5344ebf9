// Lints an OpenAPI document with Redocly and Spectral.
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core'
import spectralRulesets from '@stoplight/spectral-rulesets'

/**
 * Lints a document with Redocly's ruleset `recommended-strict` and Spectral's ruleset `oas`.
 * @param source the document as JSON
 * @returns a line for each error and each warning: the linter, the rule, the place and the message
 */
export async function lint(source: string): Promise<string[]> {
  return [...(await lintWithRedocly(source)), ...(await lintWithSpectral(source))]
}

async function lintWithRedocly(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config })
  return problems.map(
    ({ ruleId, message, location }) => `redocly ${ruleId} ${location[0]?.pointer}: ${message}`,
  )
}

async function lintWithSpectral(source: string): Promise<string[]> {
  const spectral = new spectralCore.Spectral()
  spectral.setRuleset(spectralRulesets.oas as RulesetDefinition)
  const problems = await spectral.run(source)
  return problems.map(({ code, message, path }) => `spectral ${code} ${path.join('.')}: ${message}`)
}
