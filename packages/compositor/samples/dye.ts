// The printed patterns of sample garments.
import { blend, hex, smooth, type Colour } from './canvas.ts'
import type { GarmentOptions } from './garment.ts'
import { ellipse, polygon, type Point } from './shapes.ts'

/** The colour of the cloth at a point, in shares of the picture's height from the top centre. */
export function dyeOf(options: GarmentOptions, height: number): (u: number, v: number) => Colour {
  const base = hex(options.colour ?? '#c8402f')
  const accent = hex(options.accent ?? '#f4efe6')
  const soft = (distance: number) => smooth(0.5 - distance * height)
  switch (options.pattern ?? 'plain') {
    case 'stripes':
      return (_, v) => blend(base, accent, soft(Math.abs((v % 0.075) - 0.0375) - 0.0125))
    case 'checks':
      return (u, v) => {
        const across = soft(Math.abs((Math.abs(u) % 0.08) - 0.04) - 0.012)
        const down = soft(Math.abs((v % 0.08) - 0.04) - 0.012)
        return blend(base, accent, (across + down) * 0.5)
      }
    case 'print': {
      const disc = ellipse([0, 0.38], 0.12, 0.12)
      const star = polygon(starOf(0.38, 0.095))
      return (u, v) => {
        const ring = soft(Math.abs(disc(u, v)) - 0.008)
        return blend(base, accent, Math.max(ring, soft(star(u, v))))
      }
    }
    default:
      return () => base
  }
}

const starOf = (y: number, radius: number): Point[] =>
  Array.from({ length: 10 }, (_, i): Point => {
    const angle = (i * Math.PI) / 5
    const reach = i % 2 === 0 ? radius : radius * 0.42
    return [Math.sin(angle) * reach, y - Math.cos(angle) * reach]
  })
