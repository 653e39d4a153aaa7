// The preview of a theme: its tokens as inline variables of the page, which override the style sheet.
const TOKENS = [
  "background",
  "foreground",
  "card",
  "card-foreground",
  "popover",
  "popover-foreground",
  "primary",
  "primary-foreground",
  "secondary",
  "secondary-foreground",
  "muted",
  "muted-foreground",
  "accent",
  "accent-foreground",
  "destructive",
  "destructive-foreground",
  "border",
  "input",
  "ring",
  "chart-1",
  "chart-2",
  "chart-3",
  "chart-4",
  "chart-5",
  "radius",
];
const NAME = /^[a-z][a-z0-9-]*$/;
let put = [];

const isDark = () => document.documentElement.classList.contains("dark");

export function showTheme(tokens) {
  const { style } = document.documentElement;
  for (const name of put) style.removeProperty(name);
  put = [];
  const chosen = tokens && (isDark() ? { ...tokens.light, ...tokens.dark } : tokens.light);
  for (const [name, value] of Object.entries(chosen ?? {})) {
    if (!NAME.test(name) || typeof value !== "string") continue;
    style.setProperty(`--${name}`, value);
    put.push(`--${name}`);
  }
}

/** The theme's current tokens in the page. */
export function palette() {
  const computed = getComputedStyle(document.documentElement);
  const tokens = {};
  for (const name of TOKENS) {
    const value = computed.getPropertyValue(`--${name}`).trim();
    if (value) tokens[name] = value;
  }
  return { tokens, dark: isDark() };
}
