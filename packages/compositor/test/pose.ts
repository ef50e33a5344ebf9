import { JOINTS, type Joint, type Pose } from '../src/perception.ts'

/** A pose with joints at these places. The others are not seen. */
export const poseAt = (places: Partial<Record<(typeof JOINTS)[number], [number, number]>>): Pose =>
  Object.fromEntries(
    JOINTS.map((name): [string, Joint] => {
      const [x, y] = places[name] ?? [0, 0]
      return [name, { x, y, score: places[name] ? 0.9 : 0 }]
    }),
  ) as Pose
