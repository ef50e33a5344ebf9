// The scenarios of payments, once for each of their calls and each fault of its effect.
import { PAYMENT_SCENARIOS } from './payment-scenarios.ts'
import { faultsOfEffectsAt, testFaults } from './test-faults.ts'

await testFaults(PAYMENT_SCENARIOS, faultsOfEffectsAt)
