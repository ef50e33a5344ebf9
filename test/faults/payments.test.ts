// The scenarios of payments, once for each of their calls and each distinct fault of that call.
import { PAYMENT_SCENARIOS } from './payment-scenarios.ts'
import { distinctFaultsAt, testFaults } from './test-faults.ts'

await testFaults(PAYMENT_SCENARIOS, distinctFaultsAt)
