const COUNT = new Intl.NumberFormat('en')

/** `12,345` */
export const formatCount = (count: number): string => COUNT.format(count)
