// The scenarios of added webhook endpoints, once for each of their calls and each fault of its effect.
import { faultsOfEffectsAt, testFaults } from './test-faults.ts'
import { WEBHOOK_SCENARIOS } from './webhook-scenarios.ts'

await testFaults(WEBHOOK_SCENARIOS, faultsOfEffectsAt)
