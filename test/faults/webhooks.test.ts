// The scenarios of added webhook endpoints, once for each of their calls and each distinct fault of that
// call.
import { distinctFaultsAt, testFaults } from './test-faults.ts'
import { WEBHOOK_SCENARIOS } from './webhook-scenarios.ts'

await testFaults(WEBHOOK_SCENARIOS, distinctFaultsAt)
