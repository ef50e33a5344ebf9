import { join } from 'node:path'
import { siteConfig } from './site-config.ts'

export default siteConfig(join(import.meta.dirname, '../guides'))
