// Removes old clothing beside the new garment and shows what would be there instead.
export { BECOMES, type UncoverPlan } from './uncover/becomes.ts'
export { planUncovering, type GarmentKind } from './uncover/plan.ts'
export { uncover } from './uncover/paint.ts'
