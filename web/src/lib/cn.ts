import { clsx, type ClassValue } from 'clsx'
import { twMerge } from 'tailwind-merge'

/** Class names joined; a later one wins over an earlier one that says the same thing. */
export const cn = (...classes: ClassValue[]): string => twMerge(clsx(classes))
