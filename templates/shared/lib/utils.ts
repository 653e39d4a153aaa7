import { clsx, type ClassValue } from "clsx";
import { twMerge } from "tailwind-merge";

/** Joins class names; the last of conflicting Tailwind classes wins. */
export function cn(...inputs: ClassValue[]) {
  return twMerge(clsx(inputs));
}
