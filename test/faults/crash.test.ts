// The scenarios of jobs and organisations, once for each of their calls and each fault of that call.
import { SCENARIOS } from './scenarios.ts'
import { testFaults } from './test-faults.ts'

await testFaults(SCENARIOS)
