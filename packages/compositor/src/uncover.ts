// Removes old clothing beside the new garment and shows what would be there instead.
export { BECOMES, groundIn } from './uncover/becomes.ts'
export { planUncovering } from './uncover/plan.ts'
export { uncover } from './uncover/paint.ts'
