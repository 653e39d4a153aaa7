// Asks the project's own Tailwind, inside its sandbox. `table PROPERTY…` prints which classes set which declaration of these
// properties; `css CLASS…` prints what each class says, null for one that does not exist.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [mode, ...wanted] = process.argv.slice(2);
const root = process.cwd();
const require = createRequire(join(root, "package.json"));

function tailwind() {
  for (const plugin of ["@tailwindcss/vite", "@tailwindcss/postcss"]) {
    try {
      return createRequire(require.resolve(plugin))("@tailwindcss/node");
    } catch {}
  }
  return require("@tailwindcss/node");
}

const sheet = ["app/globals.css", "src/app/globals.css", "src/index.css"].find((path) => existsSync(join(root, path)));
const source = sheet ? readFileSync(join(root, sheet), "utf8") : '@import "tailwindcss";';
const design = await tailwind().__unstable__loadDesignSystem(source, { base: join(root, sheet ?? ".", "..") });

// Tokens of the project's own, which change with its theme: Tailwind's numbers for them, if it has any, are not theirs.
const outside = source.replace(/@theme[^{]*\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}/g, "");
const own = new Set([...outside.matchAll(/(--[\w-]+)\s*:/g)].map(([, name]) => name));

/** The declarations of a plain class, without what Tailwind keeps for itself; null for one with states or several rules. */
function declarations(css) {
  const rule = css?.match(/^\.(?:[\w-]|\\.|[^\x00-\x7f])+ \{\n((?: {2}[^\n{}]+;\n)+)\}\n/);
  if (!rule) return null;
  const said = rule[1].trim().split(/;\s*/).filter(Boolean).map((line) => line.split(/:\s*(.*)/s).slice(0, 2));
  const shown = said.filter(([name, value]) => !name.startsWith("--tw-") && value !== "var(--tw-border-style)");
  return shown.length ? shown : null;
}

/** A value with the theme's own numbers in place of its variables. */
function resolved(value, depth = 0) {
  const plain = value.replace(/var\((--[\w-]+)\)/g, (whole, name) =>
    own.has(name) ? whole : (design.theme.resolveValue?.(null, [name]) ?? whole),
  );
  return plain !== value && depth < 4 ? resolved(plain, depth + 1) : plain;
}

function table(properties) {
  const found = {};
  const names = design.getClassList().map(([name]) => name).filter((name) => !name.includes("/[") && name.length < 40);
  const all = design.candidatesToCss(names);
  names.forEach((name, at) => {
    const said = declarations(all[at]);
    if (said?.length !== 1) return;
    const [property, value] = said[0];
    if (!properties.has(property)) return;
    for (const one of new Set([value, resolved(value)])) (found[`${property}:${one}`] ??= []).push(name);
  });
  return found;
}

const answer =
  mode === "table"
    ? table(new Set(wanted))
    : Object.fromEntries(design.candidatesToCss(wanted).map((css, at) => [wanted[at], css ? declarations(css) ?? [] : null]));
process.stdout.write(`\n<<outlast ${JSON.stringify(answer)} outlast>>\n`);
