// The printed patterns of sample garments.
import { blend, hex, smooth, type Colour } from './canvas.ts'

export interface Dye {
  pattern?: 'plain' | 'stripes' | 'checks'
  colour?: string
  accent?: string
}

export const RED = '#c8402f'

/** The colour of the cloth at a point, in shares of the picture's height from the top centre. */
export function dyeOf(dye: Dye, height: number): (u: number, v: number) => Colour {
  const base = hex(dye.colour ?? RED)
  const accent = hex(dye.accent ?? '#f4efe6')
  const soft = (distance: number) => smooth(0.5 - distance * height)
  switch (dye.pattern ?? 'plain') {
    case 'stripes':
      return (_, v) => blend(base, accent, soft(Math.abs((v % 0.075) - 0.0375) - 0.0125))
    case 'checks':
      return (u, v) => {
        const across = soft(Math.abs((Math.abs(u) % 0.08) - 0.04) - 0.012)
        const down = soft(Math.abs((v % 0.08) - 0.04) - 0.012)
        return blend(base, accent, (across + down) * 0.5)
      }
    case 'plain':
      return () => base
  }
}
